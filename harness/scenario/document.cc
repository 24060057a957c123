#include "scenario/document.h"

// Header only and without exceptions: no shared object to find on a runner, and nothing that crosses a folder.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// toml++ 3.3 asserts (and with NDEBUG assumes) that a key begins like one before it has looked: "[.x]" would end us.
// Without the assertions it goes on to its own error message for that.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

namespace jitrace {
namespace {

Position place_of(const toml::source_position& position) {
  return {static_cast<int>(position.line), static_cast<int>(position.column)};
}

Node convert(const toml::node& from) {
  Node node;
  node.place = place_of(from.source().begin);
  if (const auto* table = from.as_table()) {
    node.kind = Node::Kind::table;
    for (const auto& [key, value] : *table) {
      node.members.push_back({std::string(key.str()), place_of(key.source().begin), convert(value)});
    }
  } else if (const auto* list = from.as_array()) {
    node.kind = Node::Kind::list;
    for (const auto& item : *list) node.items.push_back(convert(item));
  } else if (const auto* text = from.as_string()) {
    node.kind = Node::Kind::text;
    node.text = text->get();
  } else if (const auto* integer = from.as_integer()) {
    node.kind = Node::Kind::integer;
    node.integer = integer->get();
    node.real = static_cast<double>(node.integer);
  } else if (const auto* real = from.as_floating_point()) {
    node.kind = Node::Kind::real;
    node.real = real->get();
  } else if (const auto* boolean = from.as_boolean()) {
    node.kind = Node::Kind::boolean;
    node.boolean = boolean->get();
  } else {
    node.kind = Node::Kind::other;
  }
  return node;
}

}  // namespace

const Node::Member* Node::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member;
  }
  return nullptr;
}

std::string_view name_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::none: return "nothing";
    case Node::Kind::text: return "a string";
    case Node::Kind::integer: return "an integer";
    case Node::Kind::real: return "a number";
    case Node::Kind::boolean: return "a boolean";
    case Node::Kind::list: return "a list";
    case Node::Kind::table: return "a table";
    case Node::Kind::other: return "a date or time";
  }
  return "?";
}

Document parse_document(std::string_view text) {
  Document document;
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    const toml::parse_error& error = result.error();
    document.error_place = place_of(error.source().begin);
    document.error = std::string(error.description());
    return document;
  }
  document.root = convert(result.table());
  document.parsed = true;
  return document;
}

}  // namespace jitrace
