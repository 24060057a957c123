#include "scenario/fault.h"

#include <csignal>

namespace jitrace {
namespace {

template <class T>
struct Name {
  T value;
  std::string_view name;
};

constexpr Name<Victim> victims[] = {
    {Victim::none, "none"},         {Victim::builder, "builder"},   {Victim::waiter, "waiter"},
    {Victim::worker, "worker"},     {Victim::build_tool, "build_tool"}, {Victim::compiler, "compiler"},
    {Victim::shell, "shell"},       {Victim::stage, "stage"},       {Victim::group, "group"},
    {Victim::tree, "tree"},         {Victim::daemon, "daemon"},     {Victim::other, "other"},
};
constexpr Name<FaultKind> kinds[] = {
    {FaultKind::kill, "kill"},   {FaultKind::exit_137, "exit_137"}, {FaultKind::stop, "stop"},
    {FaultKind::wipe, "wipe"},   {FaultKind::clear, "clear"},       {FaultKind::force_rebuild, "force_rebuild"},
    {FaultKind::damage, "damage"}, {FaultKind::unlink_lock, "unlink_lock"},
};
constexpr Name<Damage> damages[] = {
    {Damage::none, "none"}, {Damage::cut, "cut"}, {Damage::empty, "empty"}, {Damage::replace, "replace"},
    {Damage::remove, "remove"}, {Damage::hold, "hold"},
};
constexpr Name<OrphanOrder> orders[] = {
    {OrphanOrder::none, "none"}, {OrphanOrder::first, "orphan-first"}, {OrphanOrder::held, "orphan-held"},
};
constexpr Name<FaultWord> words_of_faults[] = {
    {{FaultKind::kill, SIGKILL, Damage::none}, "SIGKILL"},
    {{FaultKind::kill, SIGTERM, Damage::none}, "SIGTERM"},
    {{FaultKind::kill, SIGINT, Damage::none}, "SIGINT"},
    {{FaultKind::kill, SIGSEGV, Damage::none}, "SIGSEGV"},
    {{FaultKind::kill, SIGABRT, Damage::none}, "SIGABRT"},
    {{FaultKind::exit_137, 0, Damage::none}, "exit 137"},
    {{FaultKind::stop, 0, Damage::none}, "stop"},
    {{FaultKind::wipe, 0, Damage::none}, "wipe"},
    {{FaultKind::clear, 0, Damage::none}, "clear"},
    {{FaultKind::force_rebuild, 0, Damage::none}, "force-rebuild"},
    {{FaultKind::damage, 0, Damage::cut}, "cut"},
    {{FaultKind::damage, 0, Damage::empty}, "empty"},
    {{FaultKind::damage, 0, Damage::replace}, "replace"},
    {{FaultKind::damage, 0, Damage::remove}, "remove"},
    {{FaultKind::damage, 0, Damage::hold}, "hold"},
    {{FaultKind::unlink_lock, 0, Damage::none}, "unlink-lock"},
};

template <class T, std::size_t n>
std::string_view find_name(const Name<T> (&table)[n], T value) {
  for (const auto& row : table) {
    if (row.value == value) return row.name;
  }
  return "?";
}

template <class T, std::size_t n>
std::optional<T> find_value(const Name<T> (&table)[n], std::string_view name) {
  for (const auto& row : table) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

template <class T, std::size_t n>
std::vector<std::string> names(const Name<T> (&table)[n], std::size_t from) {
  std::vector<std::string> out;
  for (std::size_t i = from; i < n; ++i) out.emplace_back(table[i].name);
  return out;
}

}  // namespace

std::string_view name_of(Victim victim) { return find_name(victims, victim); }
std::string_view name_of(FaultKind kind) { return find_name(kinds, kind); }
std::string_view name_of(Damage damage) { return find_name(damages, damage); }
std::string_view name_of(OrphanOrder order) { return find_name(orders, order); }
std::optional<Victim> parse_victim(std::string_view name) { return find_value(victims, name); }
std::optional<FaultKind> parse_fault_kind(std::string_view name) { return find_value(kinds, name); }
std::optional<Damage> parse_damage(std::string_view name) { return find_value(damages, name); }
std::optional<OrphanOrder> parse_orphan_order(std::string_view name) { return find_value(orders, name); }
std::vector<std::string> victim_names() { return names(victims, 1); }
std::vector<std::string> orphan_order_names() { return names(orders, 1); }

std::optional<FaultWord> parse_fault_word(std::string_view word) { return find_value(words_of_faults, word); }
std::vector<std::string> fault_words() { return names(words_of_faults, 0); }

std::string fault_word(FaultKind kind, int signal, Damage damage) {
  for (const auto& row : words_of_faults) {
    const FaultWord& word = row.value;
    if (word.kind == kind && (kind != FaultKind::kill || word.signal == signal) &&
        (kind != FaultKind::damage || word.damage == damage)) {
      return std::string(row.name);
    }
  }
  return kind == FaultKind::kill ? "signal " + std::to_string(signal) : std::string(name_of(kind));
}

bool hits_a_process(FaultKind kind) {
  return kind == FaultKind::kill || kind == FaultKind::exit_137 || kind == FaultKind::stop;
}

}  // namespace jitrace
