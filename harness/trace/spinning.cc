#include "trace/spinning.h"

#include <algorithm>
#include <functional>

#include "process/proc.h"

namespace jitrace {
namespace {

constexpr std::size_t most_known = 100'000;     // whoever asks so many things is searching, not waiting
constexpr std::uint64_t few_calls = 4;          // of one that came late in a round
constexpr std::uint64_t most_wanted = 1 << 12;  // calls before it is asked again who runs

std::size_t mixed(std::size_t one, std::size_t other) { return (one ^ (other + 0x9e3779b97f4a7c15)) * 0xff51afd7ed558ccd; }

}  // namespace

std::size_t call_key(const std::string& what, const std::string& path, const std::string& path2) {
  const std::hash<std::string> hash;
  return mixed(mixed(hash(what), hash(path)), hash(path2));
}

void Spinning::looked(pid_t thread, std::size_t call, std::int64_t error) {
  const std::size_t key = mixed(call, static_cast<std::size_t>(error));
  if (known_.insert(key).second) return progressed();
  if (calls_ < bounds_.calls || now() - since_ < bounds_.patience) return;
  if (lookers_.empty()) {
    began_ = calls_;
    wanted_ = calls_ + bounds_.round;
  }
  // The first may be one that does not come back.
  const bool overdue = calls_ > wanted_ + most_wanted;
  if (lookers_.empty() || overdue) anchor_ = key;
  if (overdue) tries_.clear();
  if (const auto [looker, first] = lookers_.try_emplace(thread); first) looker->second = {calls_, proc_cpu_time(thread)};
  ++looks_;
  if (calls_ < wanted_ || key != anchor_) return;
  if (somebody_works()) return progressed();
  over_ = true;
}

// One that is gone by now did not.
bool Spinning::somebody_works() const {
  return std::any_of(lookers_.begin(), lookers_.end(), [this](const auto& entry) {
    const auto& [thread, looker] = entry;
    const auto cpu = looker.cpu ? proc_cpu_time(thread) : std::nullopt;
    return cpu && *cpu - *looker.cpu > bounds_.work * static_cast<Nanoseconds>(calls_ - looker.calls + few_calls);
  });
}

void Spinning::called(std::size_t call) {
  if (known_.insert(call).second) progressed();
}

void Spinning::progressed() {
  if (known_.size() > most_known) known_.clear();
  since_ = now();
  calls_ = 0;
  next_round();
}

void Spinning::not_yet() {
  if (!over_) return;
  over_ = false;
  wanted_ = calls_ + std::min(std::max(calls_ - began_, bounds_.round), most_wanted);
}

bool Spinning::have_others_tried() {
  const bool tried = tried_;
  tried_ = true;
  return tried;
}

void Spinning::next_round() {
  over_ = tried_ = false;
  looks_ = 0;
  tries_.clear();
  lookers_.clear();
}

}  // namespace jitrace
