#include "trace/lane_parts.h"

#include "base/file.h"
#include "event/checksum.h"
#include "process/process.h"

namespace jitrace {

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t\r\n");
  return from == std::string::npos ? std::string() : text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

Result<void> copy_contents(const std::string& from, const std::string& to) {
  TRY(make_dirs(to));
  return copy_as(from + "/.", to);
}

Result<void> copy_as(const std::string& from, const std::string& to) {
  TRY(make_dirs(parent_of(to)));
  Command copy;
  copy.argv = {"cp", "-a", "--reflink=auto", from, to};
  TRY_ASSIGN(const Finished finished, run_to_end(copy));
  if (!finished.status.is_exit(0)) return make_error("copy", from, 0, trimmed(finished.output));
  return {};
}

SnapshotEntry entry_of(const std::string& name, const std::string& path) {
  SnapshotEntry entry;
  entry.path = name;
  if (name.ends_with('/')) return entry;
  if (const auto file = checksum_of_file(path)) {
    entry.size = file->bytes;
    entry.digest = file->checksum;
  }
  return entry;
}

Event event_of(EventKind kind, std::string text) {
  Event event;
  event.kind = kind;
  event.text = std::move(text);
  return event;
}

Event event_of(EventKind kind, const TracedProcess& process, std::string text) {
  Event event = event_of(kind, std::move(text));
  event.slot = static_cast<Slot>(process.index);
  event.pid = static_cast<std::uint32_t>(process.pid);
  return event;
}

}  // namespace jitrace
