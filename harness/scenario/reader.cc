#include "scenario/reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace jitrace {

namespace {

// A key or a word of the file may hold what would be a command to a terminal, or a second line.
std::string in_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out;
}

}  // namespace

void Complaints::add(Position place, std::string sentence) { list_.emplace_back(place, std::move(sentence)); }

std::vector<std::string> Complaints::sorted() const {
  auto list = list_;
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  std::vector<std::string> out;
  for (const auto& [place, sentence] : list) {
    out.push_back(place.line == 0 ? fmt::format("{}: {}", file_, in_one_line(sentence))
                                  : fmt::format("{}:{}:{}: {}", file_, place.line, place.column, in_one_line(sentence)));
  }
  return out;
}

std::string unknown(std::string_view what, std::string_view word, const std::vector<std::string>& candidates) {
  std::string sentence = fmt::format("unknown {} \"{}\"", what, word);
  // The distance is quadratic, and a word of that length is no typing error.
  if (const auto best = word.size() <= 64 ? nearest(word, candidates) : std::nullopt) {
    return sentence + fmt::format("; did you mean \"{}\"?", *best);
  }
  if (!candidates.empty() && candidates.size() <= 24) sentence += "; there are " + join_text(candidates, ", ");
  return sentence;
}

TableReader::TableReader(const Node* table, std::string where, Complaints& complaints)
    : table_(table), where_(std::move(where)), complaints_(complaints) {
  if (table_ != nullptr && table_->kind != Node::Kind::table) {
    complaints_.add(table_->place, fmt::format("{} is {}, not a table", where_, name_of(table_->kind)));
    table_ = nullptr;
  }
}

const Node* TableReader::any(std::string_view key) {
  known_.emplace_back(key);
  const Node::Member* member = table_ == nullptr ? nullptr : table_->find(key);
  return member == nullptr ? nullptr : &member->value;
}

const Node* TableReader::get(std::string_view key, std::initializer_list<Node::Kind> kinds, std::string_view wanted) {
  const Node* node = any(key);
  if (node == nullptr) return nullptr;
  if (std::find(kinds.begin(), kinds.end(), node->kind) != kinds.end()) return node;
  complaints_.add(node->place, fmt::format("\"{}\" is {}, not {}", key, name_of(node->kind), wanted));
  return nullptr;
}

std::optional<Word> TableReader::word(std::string_view key) {
  const Node* node = get(key, {Node::Kind::text}, "a string");
  if (node == nullptr) return std::nullopt;
  return Word{node->text, node->place};
}

std::optional<int> TableReader::in_range(const Node& node, std::string_view key, std::int64_t low, std::int64_t high) {
  if (node.integer >= low && node.integer <= high) return static_cast<int>(node.integer);
  complaints_.add(node.place, fmt::format("\"{}\" is {}, not within {} to {}", key, node.integer, low, high));
  return std::nullopt;
}

std::optional<int> TableReader::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const Node* node = get(key, {Node::Kind::integer}, "an integer");
  if (node == nullptr) return std::nullopt;
  return in_range(*node, key, low, high);
}

std::optional<double> TableReader::number(std::string_view key, double low, double high) {
  const Node* node = get(key, {Node::Kind::integer, Node::Kind::real}, "a number");
  if (node == nullptr) return std::nullopt;
  // Written so that "nan" is refused, too.
  if (node->real >= low && node->real <= high) return node->real;
  complaints_.add(node->place, fmt::format("\"{}\" is {:g}, not within {:g} to {:g}", key, node->real, low, high));
  return std::nullopt;
}

std::optional<bool> TableReader::boolean(std::string_view key) {
  const Node* node = get(key, {Node::Kind::boolean}, "true or false");
  if (node == nullptr) return std::nullopt;
  return node->boolean;
}

std::optional<std::vector<Word>> TableReader::words(std::string_view key) {
  const Node* node = get(key, {Node::Kind::text, Node::Kind::list}, "a string or a list of strings");
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::text) return std::vector<Word>{{node->text, node->place}};
  std::vector<Word> out;
  for (const Node& item : node->items) {
    if (item.kind == Node::Kind::text) {
      out.push_back({item.text, item.place});
    } else {
      complaints_.add(item.place, fmt::format("\"{}\" holds {}, not only strings", key, name_of(item.kind)));
    }
  }
  return out;
}

std::optional<std::vector<int>> TableReader::integers(std::string_view key, std::int64_t low, std::int64_t high) {
  const Node* node = get(key, {Node::Kind::integer, Node::Kind::list}, "an integer or a list of integers");
  if (node == nullptr) return std::nullopt;
  std::vector<int> out;
  if (node->kind == Node::Kind::integer) {
    if (const auto value = in_range(*node, key, low, high)) return std::vector<int>{*value};
    return std::nullopt;
  }
  for (const Node& item : node->items) {
    if (item.kind != Node::Kind::integer) {
      complaints_.add(item.place, fmt::format("\"{}\" holds {}, not only integers", key, name_of(item.kind)));
    } else if (const auto value = in_range(item, key, low, high); value && std::find(out.begin(), out.end(), *value) != out.end()) {
      complaints_.add(item.place, fmt::format("{} stands here twice", *value));
    } else if (value) {
      out.push_back(*value);
    }
  }
  if (node->items.empty()) complaints_.add(node->place, fmt::format("\"{}\" is an empty list", key));
  if (out.empty()) return std::nullopt;
  return out;
}

const Node* TableReader::table(std::string_view key) {
  return get(key, {Node::Kind::table}, "a table");
}

std::vector<const Node*> TableReader::tables(std::string_view key) {
  const Node* node = get(key, {Node::Kind::list}, "a list of tables");
  std::vector<const Node*> out;
  if (node == nullptr) return out;
  for (const Node& item : node->items) {
    if (item.kind == Node::Kind::table) {
      out.push_back(&item);
    } else {
      complaints_.add(item.place, fmt::format("\"{}\" holds {}, not only tables", key, name_of(item.kind)));
    }
  }
  return out;
}

Position TableReader::place() const { return table_ == nullptr ? Position{} : table_->place; }

Position TableReader::place_of(std::string_view key) const {
  const Node::Member* member = table_ == nullptr ? nullptr : table_->find(key);
  return member == nullptr ? place() : member->value.place;
}

void TableReader::finish() {
  if (table_ == nullptr) return;
  for (const Node::Member& member : table_->members) {
    if (std::find(known_.begin(), known_.end(), member.name) != known_.end()) continue;
    complaints_.add(member.place, unknown("key", member.name, known_));
  }
}

}  // namespace jitrace
