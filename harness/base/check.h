#pragma once

namespace jitrace {

// Prints the broken promise and aborts; in release builds too. For our own bugs only.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace jitrace

#define JITRACE_CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::jitrace::check_failed(#expression, __FILE__, __LINE__))
