#pragma once

#include <string>
#include <string_view>

#include "reports/console.h"

namespace jitrace {

enum class Ink { plain, bold, good, bad, dim };

// Text for a terminal that grows line by line. What comes in as a paragraph or a command is made safe for it; what
// comes in as a line has been. Narrower than 60 columns is not supported: the text then runs over.
class Page {
 public:
  explicit Page(const ConsoleOptions& options);

  std::size_t width() const { return width_; }
  std::string ink(std::string text, Ink how) const;
  void line(std::string_view text, Ink how = Ink::plain);
  // `text` behind `first`, its other lines under it.
  void paragraph(std::string_view first, std::string_view text, Ink how = Ink::plain);
  // A command stays one that can be copied: broken only between its words, with a backslash.
  void command(std::string_view indent, std::string_view text);
  // After an empty line.
  void heading(std::string_view text);
  std::string take() { return std::move(out_); }

 private:
  Colour colour_;
  std::size_t width_;
  std::string out_;
};

}  // namespace jitrace
