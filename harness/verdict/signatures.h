#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitrace {

// One row of signatures.txt.
struct SignatureRow {
  std::string kind;     // a finding class, or a cause
  std::string code;     // "301", "ENOSPC", "cc1plus"
  std::string pattern;  // `*` stands for anything within a line
};

struct Signature {
  std::string kind;
  std::string code;
  std::string line;     // the line of the text that matched
};

// The table that was built in, in its order.
const std::vector<SignatureRow>& signature_rows();
// Rows of a table; a line that is none gives nothing for the whole table, so a broken file cannot go unseen.
std::optional<std::vector<SignatureRow>> parse_signatures(std::string_view text);
// What an error text means: the first row that matches any line of it. Nothing where no row does.
std::optional<Signature> classify(std::string_view text);

}  // namespace jitrace
