#pragma once

#include <string_view>

namespace jitrace {

std::string_view signatures_text();  // signatures.txt as it was when this was built

}  // namespace jitrace
