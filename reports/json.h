#pragma once

#include <string>

#include "verdict/cell.h"

namespace jitrace {

// report.json: schema 1. Keys keep their order, so two reports compare line by line; times are milliseconds.
std::string render_json(const Report& report);

}  // namespace jitrace
