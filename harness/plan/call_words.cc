#include "plan/call_words.h"

#include <algorithm>

namespace jitrace {
namespace {

constexpr std::string_view arrow = " -> ";

// How the words behind the path begin, for the verbs that have some.
std::string_view sign_of_detail(std::string_view verb) {
  if (verb == "open") return " O_";
  if (verb == "flock") return " LOCK_";
  return verb == "rename" ? " RENAME_" : std::string_view();
}

}  // namespace

CallWords::CallWords(std::string_view what) : verb_(what.substr(0, what.find(' '))) {
  path_ = what.substr(std::min(what.size(), verb_.size() + 1));
  if (verb_ == "copy" && path_.starts_with("to ")) path_.remove_prefix(3);
  std::size_t end = std::string_view::npos;
  if (verb_ == "lock") end = std::min(path_.rfind(" F_SETLK"), path_.rfind(" F_OFD_SETLK"));
  else if (const std::string_view sign = sign_of_detail(verb_); !sign.empty()) end = path_.rfind(sign);
  if (end != std::string_view::npos) {
    detail_ = path_.substr(end + 1);
    path_ = path_.substr(0, end);
  }
  if (!is({"rename", "link"})) return;
  const std::size_t at = path_.find(arrow);
  if (at == std::string_view::npos) return;
  target_ = path_.substr(at + arrow.size());
  path_ = path_.substr(0, at);
}

bool CallWords::is(std::initializer_list<std::string_view> verbs) const {
  return std::find(verbs.begin(), verbs.end(), verb_) != verbs.end();
}

bool CallWords::has(std::string_view flag) const {
  for (std::string_view rest = detail_; !rest.empty();) {
    const std::size_t end = rest.find_first_of("| ");
    if (rest.substr(0, end) == flag) return true;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return false;
}

bool CallWords::only_looks() const {
  if (verb_ == "open") return !has("O_EXCL") && !has("O_TRUNC");
  return is({"stat", "access", "readlink", "list", "close", "fsync", "flock", "lock"});
}

bool CallWords::waits_for_lock() const {
  if (verb_ == "flock") return !has("LOCK_NB") && !has("LOCK_UN");
  return verb_ == "lock" && (has("F_SETLKW") || has("F_OFD_SETLKW"));
}

bool CallWords::opens_to_write() const {
  return verb_ == "open" && (has("O_WRONLY") || has("O_RDWR") || has("O_CREAT"));
}

std::string_view CallWords::may_make() const {
  if (verb_ == "rename") return target_;
  return verb_ == "open" && has("O_CREAT") ? path_ : makes();
}

std::string_view CallWords::makes() const {
  if (verb_ == "link") return target_;
  return is({"mkdir", "make", "symlink"}) || (verb_ == "open" && has("O_EXCL")) ? path_ : std::string_view();
}

std::string_view CallWords::removes() const { return is({"unlink", "rmdir", "rename"}) ? path_ : std::string_view(); }

}  // namespace jitrace
