#include "worker/spec.h"

#include <cstdio>

#include "base/fields.h"
#include "base/text.h"

namespace jitrace {
namespace {

constexpr std::string_view spec_kind = "worker";
constexpr int spec_version = 1;

std::string real_text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

Result<KeySpec> parse_key(const std::string& line) {
  TRY_ASSIGN(auto items, unpack(line));
  KeySpec key;
  key.kernel = items["kernel"];
  key.source = items["source"];
  key.reference = parse_hex(items["reference"]).value_or(0);
  if (key.kernel.empty()) return plain_error("read worker spec", "a key has no kernel");
  return key;
}

}  // namespace

std::string WorkerSpec::text() const {
  Fields fields{std::string(spec_kind), spec_version};
  fields.add("board", board);
  fields.add("slot", std::int64_t{slot});
  fields.add("index", std::int64_t{index});
  fields.add("round", std::int64_t{round});
  fields.add("preset", preset);
  fields.add("action", action);
  fields.add("cache", cache);
  fields.add("scratch", scratch);
  fields.add("control", control);
  fields.add("toolchain_kind", name_of(toolchain.kind));
  fields.add("toolchain_name", toolchain.name);
  fields.add("toolchain_program", toolchain.program);
  fields.add("toolchain_version", toolchain.version);
  fields.add("shadow", shadow);
  fields.add("compiler", compiler);
  fields.add("libexec", libexec);
  fields.add("arch", arch);
  fields.add("loader_kind", loader.kind);
  fields.add("loader_device", loader.device);
  fields.add("loader_kernel", loader.kernel);
  fields.add("loader_api", loader.api == LoadApi::library ? "library" : "module");
  fields.add("loader_decisions", loader.decisions);
  for (const KeySpec& key : keys) {
    fields.add("key", pack({{"kernel", key.kernel}, {"source", key.source}, {"reference", hex(key.reference)}}));
  }
  fields.add("gets", std::int64_t{gets});
  fields.add("client", std::int64_t{client});
  fields.add("clients", std::int64_t{clients});
  fields.add("rename", rename);
  fields.add("bound_scale", real_text(bound_scale));
  fields.add("fake_duration", std::int64_t{fake_duration});
  fields.add("seed", hex(seed));
  return fields.text();
}

Result<WorkerSpec> WorkerSpec::parse(std::string_view text) {
  TRY_ASSIGN(const Fields fields, Fields::parse(text, spec_kind, spec_version));
  WorkerSpec spec;
  TRY_ASSIGN(spec.board, fields.get("board"));
  TRY_ASSIGN(const std::int64_t slot, fields.get_int("slot"));
  spec.slot = static_cast<Slot>(slot);
  TRY_ASSIGN(const std::int64_t index, fields.get_int("index"));
  spec.index = static_cast<int>(index);
  TRY_ASSIGN(const std::int64_t round, fields.get_int("round"));
  spec.round = static_cast<int>(round);
  TRY_ASSIGN(spec.preset, fields.get("preset"));
  spec.action = fields.get_or("action", "get");
  TRY_ASSIGN(spec.cache, fields.get("cache"));
  TRY_ASSIGN(spec.scratch, fields.get("scratch"));
  spec.control = fields.get_or("control", "");
  TRY_ASSIGN(const std::string kind, fields.get("toolchain_kind"));
  const auto toolchain = parse_toolchain_kind(kind);
  if (!toolchain) return plain_error("read worker spec", "unknown toolchain " + kind);
  spec.toolchain.kind = *toolchain;
  spec.toolchain.name = fields.get_or("toolchain_name", kind);
  spec.toolchain.program = fields.get_or("toolchain_program", "");
  spec.toolchain.version = fields.get_or("toolchain_version", "");
  spec.shadow = fields.get_or("shadow", "");
  spec.compiler = fields.get_or("compiler", spec.toolchain.program);
  spec.libexec = fields.get_or("libexec", "");
  TRY_ASSIGN(spec.arch, fields.get("arch"));
  TRY_ASSIGN(spec.loader.kind, fields.get("loader_kind"));
  spec.loader.device = fields.get_or("loader_device", "");
  spec.loader.kernel = fields.get_or("loader_kernel", "");
  spec.loader.api =
      fields.get_or("loader_api", "library") == "module" ? LoadApi::symbols_then_module : LoadApi::library;
  spec.loader.decisions = fields.get_or("loader_decisions", "");
  for (const std::string& line : fields.all("key")) {
    TRY_ASSIGN(KeySpec key, parse_key(line));
    spec.keys.push_back(std::move(key));
  }
  TRY_ASSIGN(const std::int64_t gets, fields.get_int("gets"));
  spec.gets = static_cast<int>(gets);
  TRY_ASSIGN(const std::int64_t client, fields.get_int("client"));
  spec.client = static_cast<int>(client);
  TRY_ASSIGN(const std::int64_t clients, fields.get_int("clients"));
  spec.clients = static_cast<int>(clients);
  spec.rename = fields.get_or("rename", "local");
  spec.bound_scale = parse_real(fields.get_or("bound_scale", "1")).value_or(1.0);
  TRY_ASSIGN(spec.fake_duration, fields.get_int("fake_duration"));
  spec.seed = parse_hex(fields.get_or("seed", "")).value_or(0);
  return spec;
}

}  // namespace jitrace
