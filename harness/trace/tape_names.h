#pragma once

#include <string>
#include <vector>

namespace jitrace {

// The names that a run of a compiler has for itself alone: its directory for temporary files, and below it what drivers
// put into the arguments (the ccXXXXXX of gcc, the tmpxft_…_… of nvcc). In a general text they are {tmp}, {t1}, {t2},
// in the order of the arguments.
class TapeNames {
 public:
  TapeNames() = default;
  explicit TapeNames(std::vector<std::string> values) : values_(std::move(values)) {}
  static TapeNames of(const std::vector<std::string>& arguments, const std::string& temporary);
  void add(const std::string& name);  // once

  const std::vector<std::string>& values() const { return values_; }
  std::string general(std::string text) const;
  std::string particular(std::string text) const;
  // As many, each as long: bytes with the ones in them are as many with the others.
  bool fits(const TapeNames& other) const;
  // The names of `from` in these bytes become ours.
  std::string translated(std::string bytes, const TapeNames& from) const;
  // Holds what general() would write, and so would not come back from it.
  static bool is_ambiguous(const std::string& text);

 private:
  std::vector<std::string> values_;
};

}  // namespace jitrace
