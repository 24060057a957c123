#include "event/history.h"

#include <map>

#include "base/text.h"

namespace jitrace {
namespace {

constexpr int history_version = 1;

std::string pack_event(const Event& event) {
  std::vector<std::pair<std::string, std::string>> items = {{"t", std::to_string(event.stamp)},
                                                            {"kind", std::string(name_of(event.kind))}};
  if (event.slot != driver_slot) items.emplace_back("slot", std::to_string(event.slot));
  if (event.pid != 0) items.emplace_back("pid", std::to_string(event.pid));
  if (event.point != Point::none) items.emplace_back("point", std::string(name_of(event.point)));
  if (event.key != 0) items.emplace_back("key", std::to_string(event.key));
  if (event.attempt != 0) items.emplace_back("attempt", hex(event.attempt));
  if (event.a != 0) items.emplace_back("a", std::to_string(event.a));
  if (event.b != 0) items.emplace_back("b", std::to_string(event.b));
  if (!event.text.empty()) items.emplace_back("text", event.text);
  return pack(items);
}

// The value of `name` as a whole number, 0 if it is missing; notes the name if it is none.
template <class T>
T number(const std::map<std::string, std::string>& items, const char* name, std::string* bad) {
  const auto found = items.find(name);
  if (found == items.end()) return T{};
  const auto value = parse_int(found->second);
  if (!value) *bad = name;
  return value ? static_cast<T>(*value) : T{};
}

std::uint64_t hexadecimal(const std::map<std::string, std::string>& items, const char* name, std::string* bad) {
  const auto found = items.find(name);
  if (found == items.end()) return 0;
  const auto value = parse_hex(found->second);
  if (!value) *bad = name;
  return value.value_or(0);
}

std::string string_or_empty(const std::map<std::string, std::string>& items, const char* name) {
  const auto found = items.find(name);
  return found == items.end() ? std::string() : found->second;
}

Result<Event> unpack_event(const std::string& line) {
  TRY_ASSIGN(const auto items, unpack(line));
  Event event;
  std::string bad;
  event.stamp = number<Nanoseconds>(items, "t", &bad);
  event.slot = items.contains("slot") ? number<Slot>(items, "slot", &bad) : driver_slot;
  event.pid = number<std::uint32_t>(items, "pid", &bad);
  event.key = number<std::uint16_t>(items, "key", &bad);
  event.attempt = hexadecimal(items, "attempt", &bad);
  event.a = number<std::int64_t>(items, "a", &bad);
  event.b = number<std::int64_t>(items, "b", &bad);
  event.text = string_or_empty(items, "text");
  const auto kind = parse_event_kind(string_or_empty(items, "kind"));
  if (!kind) bad = "kind";
  const std::string point = string_or_empty(items, "point");
  if (!point.empty()) {
    const auto parsed = parse_point(point);
    if (!parsed) bad = "point";
    event.point = parsed.value_or(Point::none);
  }
  if (!bad.empty()) return plain_error("read history", "\"" + bad + "\" of an event is not understood: " + line);
  event.kind = *kind;
  return event;
}

std::string pack_entry(const SnapshotEntry& entry) {
  return pack({{"path", entry.path},
               {"size", std::to_string(entry.size)},
               {"digest", hex(entry.digest)},
               {"attempt", hex(entry.attempt)},
               {"state", entry.state}});
}

Result<SnapshotEntry> unpack_entry(const std::string& line) {
  TRY_ASSIGN(const auto items, unpack(line));
  SnapshotEntry entry;
  std::string bad;
  entry.path = string_or_empty(items, "path");
  entry.size = number<std::uint64_t>(items, "size", &bad);
  entry.digest = hexadecimal(items, "digest", &bad);
  entry.attempt = hexadecimal(items, "attempt", &bad);
  entry.state = string_or_empty(items, "state");
  if (!bad.empty()) return plain_error("read history", "\"" + bad + "\" of a file is not understood: " + line);
  return entry;
}

}  // namespace

std::string History::text() const {
  Fields fields("history", history_version);
  fields.add("plan", plan);
  fields.add("cache", cache);
  fields.add("torn_records", static_cast<std::int64_t>(torn_records));
  if (!failure.empty()) fields.add("failure", failure);
  for (const Event& event : events) fields.add("event", pack_event(event));
  for (const SnapshotEntry& entry : snapshot) fields.add("file", pack_entry(entry));
  for (const SnapshotEntry& entry : residue) fields.add("residue", pack_entry(entry));
  return fields.text();
}

Result<History> History::parse(std::string_view text) {
  TRY_ASSIGN(const Fields fields, Fields::parse(text, "history", history_version));
  History history;
  TRY_ASSIGN(history.plan, fields.get("plan"));
  history.cache = fields.get_or("cache", "");
  TRY_ASSIGN(const std::int64_t torn, fields.get_int("torn_records"));
  history.torn_records = static_cast<std::uint64_t>(torn);
  history.failure = fields.get_or("failure", "");
  for (const auto& [name, value] : fields.lines()) {
    if (name == "event") {
      TRY_ASSIGN(Event event, unpack_event(value));
      history.events.push_back(std::move(event));
    } else if (name == "file" || name == "residue") {
      TRY_ASSIGN(SnapshotEntry entry, unpack_entry(value));
      (name == "file" ? history.snapshot : history.residue).push_back(std::move(entry));
    }
  }
  return history;
}

}  // namespace jitrace
