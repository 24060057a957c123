#pragma once

#include <boost/system/result.hpp>

#include "base/check.h"
#include "base/error.h"

namespace jitrace {

// A T, or the Error that prevented it. value() on an error is our own bug and aborts.
template <class T = void>
using Result = boost::system::result<T, Error>;

[[noreturn]] inline void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  check_failed(error.message().c_str(), where.file_name(), static_cast<int>(where.line()));
}

}  // namespace jitrace

#define JITRACE_CONCAT_INNER(a, b) a##b
#define JITRACE_CONCAT(a, b) JITRACE_CONCAT_INNER(a, b)

// Returns the error to the caller, if there is one.
#define TRY(expression)                                                    \
  do {                                                                     \
    if (auto try_result = (expression); !try_result) return try_result.error(); \
  } while (false)

// Binds the value, or returns the error: TRY_ASSIGN(auto fd, open_file(path));
#define TRY_ASSIGN(declaration, expression) \
  TRY_ASSIGN_INNER(JITRACE_CONCAT(try_assign_, __LINE__), declaration, expression)
#define TRY_ASSIGN_INNER(name, declaration, expression) \
  auto name = (expression);                             \
  if (!name) return name.error();                       \
  declaration = std::move(*name)
