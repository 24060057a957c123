#pragma once

#include <string>
#include <string_view>

namespace jitrace {

// What came out of a subject goes into a report as text, never as markup or as a terminal's command. All of them
// replace bytes that are no UTF-8 by U+FFFD.

std::string valid_utf8(std::string_view text);
// Control bytes become visible escapes (\x1b); newline and tab become spaces, so a line stays one.
std::string for_terminal(std::string_view text);
// For element text and attribute values; what XML 1.0 cannot hold becomes \x1b.
std::string for_xml(std::string_view text);
// Within a table cell: pipes, markup, HTML, mentions and newlines lose their meaning.
std::string for_markdown(std::string_view text);
// Markdown: a block of code of its own, whose fence is longer than any run of backticks in the text.
std::string code_block(std::string_view text);
// The data and the properties of a GitHub workflow command.
std::string for_command_data(std::string_view text);
std::string for_command_property(std::string_view text);

}  // namespace jitrace
