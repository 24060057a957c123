#include "verdict/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace jitrace {
namespace {

// The continued fraction of the incomplete beta function by Lentz's method; converges fast for x < (a + 1) / (a + b +
// 2).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto not_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    const double step = d * c;
    result *= step;
    if (std::abs(step - 1) < 1e-15) break;
  }
  return result;
}

// The x at which I_x(a, b) = p, by halving: the function only grows.
double inverse_beta(double a, double b, double p) {
  double low = 0, high = 1;
  for (int i = 0; i < 200 && high - low > 1e-15; ++i) {
    const double middle = (low + high) / 2;
    (incomplete_beta(a, b, middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double log_front = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  const double front = std::exp(log_front);
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

Rate rate_of(int k, int n) {
  Rate rate{n, k, 0, 1};
  if (n <= 0) return rate;
  if (k > 0) rate.low = inverse_beta(k, n - k + 1, 0.025);
  if (k < n) rate.high = inverse_beta(k + 1, n - k, 0.975);
  return rate;
}

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= values.size()) return values.back();
  return values[below] + (at - static_cast<double>(below)) * (values[below + 1] - values[below]);
}

Spread spread_of(const std::vector<double>& measured, int unrecovered) {
  Spread spread;
  spread.n = static_cast<int>(measured.size());
  spread.unrecovered = unrecovered;
  spread.p50 = percentile(measured, 0.5);
  spread.p95 = percentile(measured, 0.95);
  spread.max = percentile(measured, 1.0);
  return spread;
}

std::string in_words(const Rate& rate) {
  if (rate.n == 0) return "no trial";
  if (rate.k == 0 && rate.n <= 3) return fmt::format("none in {} (below 100 %)", rate.n);
  if (rate.k == 0) return fmt::format("none in {} (below {:.2g} %)", rate.n, 300.0 / rate.n);
  return fmt::format("{} of {} ({:.1f} %, 95 % interval {:.1f} to {:.1f} %)", rate.k, rate.n, 100.0 * rate.k / rate.n,
                     100 * rate.low, 100 * rate.high);
}

}  // namespace jitrace
