#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitrace {

struct Position {
  int line = 0, column = 0;  // from 1; 0: not in the file
};

// A TOML value with its place. A small tree of our own, so that one file of the build knows toml++.
struct Node {
  enum class Kind { none, text, integer, real, boolean, list, table, other };
  struct Member;

  Kind kind = Kind::none;
  Position place;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<Node> items;       // list
  std::vector<Member> members;   // table

  const Member* find(std::string_view name) const;
};

struct Node::Member {
  std::string name;
  Position place;  // of the key
  Node value;
};

std::string_view name_of(Node::Kind kind);  // with its article: "a string"

struct Document {
  Node root;
  bool parsed = false;
  Position error_place;
  std::string error;  // the parser's sentence
};
Document parse_document(std::string_view text);

}  // namespace jitrace
