#include "base/fields.h"

#include "base/text.h"

namespace jitrace {
namespace {

std::string escape_line(std::string_view value) {
  std::string out;
  for (const char c : value) {
    switch (c) {
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\0': out += "\\0"; break;
      default: out += c;
    }
  }
  return out;
}

std::string unescape_line(std::string_view value) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '\\' || i + 1 == value.size()) {
      out += value[i];
      continue;
    }
    switch (value[++i]) {
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case '0': out += '\0'; break;
      default: out += value[i];
    }
  }
  return out;
}

}  // namespace

void Fields::add(std::string_view name, std::string_view value) { lines_.emplace_back(name, value); }
void Fields::add(std::string_view name, std::int64_t value) { add(name, std::to_string(value)); }

std::string Fields::text() const {
  std::string out = "jitrace " + kind_ + " " + std::to_string(version_) + "\n";
  for (const auto& [name, value] : lines_) out += name + " " + escape_line(value) + "\n";
  return out;
}

Result<Fields> Fields::parse(std::string_view text, std::string_view kind, int version) {
  Fields fields{std::string(kind), version};
  const std::string what = "read " + std::string(kind);
  bool first = true;
  for (const std::string& line : split(text, '\n')) {
    if (first) {
      const auto words = split(line, ' ');
      if (words.size() != 3 || words[0] != "jitrace" || words[1] != kind) {
        return plain_error(what, "the first line is not \"jitrace " + std::string(kind) + " N\"");
      }
      if (words[2] != std::to_string(version)) {
        return plain_error(what, "version " + words[2] + " is not " + std::to_string(version) +
                                     ", the one that this jitrace reads");
      }
      first = false;
    } else if (line.starts_with("jitrace ")) {
      return plain_error(what, "a second one begins in the same file");
    } else if (!line.empty() && line[0] != '#') {
      const std::size_t space = line.find(' ');
      if (space == 0) return plain_error(what, "a line has no name: \"" + line + "\"");
      fields.add(line.substr(0, space),
                 space == std::string::npos ? std::string() : unescape_line(line.substr(space + 1)));
    }
  }
  if (first) return plain_error(what, "it is empty");
  return fields;
}

Result<std::string> Fields::get(std::string_view name) const {
  for (const auto& [key, value] : lines_) {
    if (key == name) return value;
  }
  return plain_error("read " + kind_, "\"" + std::string(name) + "\" is missing");
}

Result<std::int64_t> Fields::get_int(std::string_view name) const {
  TRY_ASSIGN(const std::string text, get(name));
  const auto value = parse_int(text);
  if (!value) return plain_error("read " + kind_, "\"" + std::string(name) + "\" is no number: " + text);
  return *value;
}

std::string Fields::get_or(std::string_view name, std::string_view fallback) const {
  const auto value = get(name);
  return value ? *value : std::string(fallback);
}

std::vector<std::string> Fields::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : lines_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

std::string pack(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out;
  for (const auto& [name, value] : items) {
    if (!out.empty()) out += ' ';
    out += name + '=';
    for (const char c : value) {
      if (c == ' ' || c == '\\' || c == '=') out += '\\';
      out += c;
    }
  }
  return out;
}

Result<std::map<std::string, std::string>> unpack(std::string_view text) {
  std::map<std::string, std::string> items;
  std::size_t i = 0;
  while (i < text.size()) {
    std::string name, value;
    std::string* into = &name;
    for (; i < text.size() && text[i] != ' '; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) *into += text[++i];
      else if (text[i] == '=' && into == &name) into = &value;
      else *into += text[i];
    }
    if (into == &name) return plain_error("read fields", "\"" + name + "\" has no value");
    items[name] = value;
    while (i < text.size() && text[i] == ' ') ++i;
  }
  return items;
}

}  // namespace jitrace
