#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/document.h"

namespace jitrace {

// Everything wrong with a file so far, so that its author hears of all of it at once.
class Complaints {
 public:
  explicit Complaints(std::string_view file) : file_(file) {}
  void add(Position place, std::string sentence);
  bool none() const { return list_.empty(); }
  std::size_t count() const { return list_.size(); }
  std::vector<std::string> sorted() const;  // "file:12:5: sentence", by place; one line each

 private:
  std::string file_;
  std::vector<std::pair<Position, std::string>> list_;
};

// `unknown WHAT "WORD"`, with the nearest candidate or all of them if they are few.
std::string unknown(std::string_view what, std::string_view word, const std::vector<std::string>& candidates);

// A string of the file with where it stands, for checks that come later.
struct Word {
  std::string text;
  Position place;
};

// Typed access to one table. Every key that is asked for is a known key; finish() complains about the others. A value of
// another type than was asked for is complained about and reads as absent.
class TableReader {
 public:
  // `where` is for messages: "[workload]". A null table is an empty one.
  TableReader(const Node* table, std::string where, Complaints& complaints);

  std::optional<Word> word(std::string_view key);
  std::optional<int> integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::optional<double> number(std::string_view key, double low, double high);
  std::optional<bool> boolean(std::string_view key);
  // One string or a list of them.
  std::optional<std::vector<Word>> words(std::string_view key);
  // One or a list of them, none twice.
  std::optional<std::vector<int>> integers(std::string_view key, std::int64_t low, std::int64_t high);
  const Node* table(std::string_view key);
  // A list of tables: [[key]], or inline ones.
  std::vector<const Node*> tables(std::string_view key);
  // Of any type.
  const Node* any(std::string_view key);

  Position place() const;
  Position place_of(std::string_view key) const;  // of its value; of the table if it is absent
  void finish();

 private:
  const Node* get(std::string_view key, std::initializer_list<Node::Kind> kinds, std::string_view wanted);
  std::optional<int> in_range(const Node& node, std::string_view key, std::int64_t low, std::int64_t high);

  const Node* table_;
  std::string where_;
  Complaints& complaints_;
  std::vector<std::string> known_;
};

}  // namespace jitrace
