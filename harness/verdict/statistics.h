#pragma once

#include <string>
#include <vector>

#include "verdict/cell.h"

namespace jitrace {

// The regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1; to about 1e-12.
double incomplete_beta(double a, double b, double x);

// The value below which a share `p` of the values lies, interpolated between neighbours; 0 for no values.
double percentile(std::vector<double> values, double p);

// `measured` in ms, of the trials that got there.
Spread spread_of(const std::vector<double>& measured, int unrecovered);

// "12 of 200 (6.0 %, 95 % interval 3.1 to 10.2 %)"; "none in 200 (below 1.5 %)": three in n is where the 95 % bound
// of nothing seen lies.
std::string in_words(const Rate& rate);

}  // namespace jitrace
