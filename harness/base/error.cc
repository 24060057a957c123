#include "base/error.h"

#include <cerrno>
#include <cstring>

namespace jitrace {

std::string Error::message() const {
  std::string text = operation;
  if (!path.empty()) text += " " + path;
  if (code != 0) text += std::string(": ") + strerrordesc_np(code);
  if (!note.empty()) text += code != 0 ? " (" + note + ")" : ": " + note;
  return text;
}

Error last_error(std::string_view operation, std::string_view path) {
  return make_error(operation, path, errno);
}

Error make_error(std::string_view operation, std::string_view path, int code, std::string_view note) {
  return Error(std::string(operation), std::string(path), code, std::string(note));
}

Error plain_error(std::string_view operation, std::string_view note) {
  return Error(std::string(operation), {}, 0, std::string(note));
}

}  // namespace jitrace
