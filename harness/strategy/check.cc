#include "strategy/check.h"

#include "base/fields.h"
#include "base/file.h"
#include "base/text.h"
#include "event/checksum.h"

namespace jitrace {
namespace {

constexpr std::string_view manifest_kind = "manifest";
constexpr int manifest_version = 1;

std::string file_line(std::string_view name, std::string_view bytes) {
  return pack(
      {{"name", std::string(name)}, {"size", std::to_string(bytes.size())}, {"digest", hex(checksum64(bytes))}});
}

bool matches(const std::map<std::string, std::string>& line, std::string_view bytes) {
  const auto size = line.find("size");
  const auto digest = line.find("digest");
  return size != line.end() && digest != line.end() && size->second == std::to_string(bytes.size()) &&
         digest->second == hex(checksum64(bytes));
}

Looked verify(const Layout& layout, std::string_view kernel, std::string_view arch, Files& files) {
  Looked looked;
  const Result<std::string> text = files.read(layout.manifest);
  if (!text) {
    looked.look = files.is_directory(layout.entry) ? Look::bad : Look::miss;
    return looked;
  }
  looked.look = Look::bad;
  const Result<Fields> fields = Fields::parse(*text, manifest_kind, manifest_version);
  if (!fields || fields->get_or("kernel", "") != kernel || fields->get_or("arch", "") != arch) return looked;
  bool artifact_seen = false;
  for (const std::string& line : fields->all("file")) {
    const auto items = unpack(line);
    if (!items || !items->contains("name")) return looked;
    const std::string path = join(layout.entry, items->at("name"));
    Result<std::string> bytes = files.read(path);
    if (!bytes || !matches(*items, *bytes)) return looked;
    if (path != layout.artifact) continue;
    looked.bytes = std::move(*bytes);
    artifact_seen = true;
  }
  if (!artifact_seen) return looked;
  looked.attempt = parse_hex(fields->get_or("attempt", "")).value_or(0);
  looked.look = Look::hit;
  return looked;
}

Looked complete(const Preset& preset, const Layout& layout, Files& files) {
  if (preset.incomplete == Incomplete::error && !files.is_directory(layout.entry)) return {Look::miss, {}, 0};
  if (files.exists(layout.source) && files.exists(layout.artifact)) return {Look::hit, {}, 0};
  return {preset.incomplete == Incomplete::error ? Look::incomplete : Look::miss, {}, 0};
}

}  // namespace

Looked look_at(const Preset& preset, const Layout& layout, std::string_view kernel, std::string_view arch,
               Files& files) {
  switch (preset.check) {
    case Check::none: return {};
    case Check::exists: return {files.exists(layout.artifact) ? Look::hit : Look::miss, {}, 0};
    case Check::complete: return complete(preset, layout, files);
    case Check::digest: return verify(layout, kernel, arch, files);
  }
  return {};
}

std::string manifest_text(const ManifestSubject& subject) {
  Fields fields{std::string(manifest_kind), manifest_version};
  fields.add("kernel", subject.kernel);
  fields.add("arch", subject.arch);
  fields.add("attempt", hex(subject.attempt));
  fields.add("file", file_line(subject.source_name, subject.source));
  fields.add("file", file_line(subject.artifact_name, subject.artifact));
  return fields.text();
}

}  // namespace jitrace
