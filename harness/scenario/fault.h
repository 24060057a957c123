#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/point.h"

namespace jitrace {

// The words with which scenarios and plans say what goes wrong.

// Whom a fault hits. `worker` counts by slot, `builder` and `waiter` by ticket; tools are those of the matching builder.
enum class Victim { none, builder, waiter, worker, build_tool, compiler, shell, stage, group, tree, daemon, other };
enum class FaultKind { kill, exit_137, stop, wipe, clear, force_rebuild, damage, unlink_lock };
// `hold` damages nothing: a process of client 0 opens the file and keeps it open until the round ends, which is what
// makes the file busy for a rename of that client.
enum class Damage { none, cut, empty, replace, remove, hold };
// Who goes first when the builder is gone and its compiler is not: the tree drains and then the successor goes on, or
// the orphan stands before its next change of the cache until the successor has loaded.
enum class OrphanOrder { none, first, held };

std::string_view name_of(Victim victim);
std::string_view name_of(FaultKind kind);
std::string_view name_of(Damage damage);
std::string_view name_of(OrphanOrder order);  // none, orphan-first, orphan-held
std::optional<Victim> parse_victim(std::string_view name);
std::optional<FaultKind> parse_fault_kind(std::string_view name);
std::optional<Damage> parse_damage(std::string_view name);
std::optional<OrphanOrder> parse_orphan_order(std::string_view name);
std::vector<std::string> victim_names();        // without none
std::vector<std::string> orphan_order_names();  // without none

// What a scenario writes in `what`: SIGKILL, exit 137, stop, wipe, cut …
struct FaultWord {
  FaultKind kind = FaultKind::kill;
  int signal = 0;
  Damage damage = Damage::none;
};
std::optional<FaultWord> parse_fault_word(std::string_view word);
std::vector<std::string> fault_words();
std::string fault_word(FaultKind kind, int signal, Damage damage);

// Kills end or freeze somebody; the others change the cache by another process.
bool hits_a_process(FaultKind kind);

}  // namespace jitrace
