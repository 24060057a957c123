#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scenario/parse.h"

namespace jitrace {

// A small catalogue of the tests' own: they are about scenarios, not about the presets of the day.
inline Catalogue small_catalogue() {
  Catalogue catalogue;
  const std::vector<Point> torch{Point::make_dir, Point::lock_wait, Point::lock_held, Point::write_source, Point::spawn,
                                 Point::compile,  Point::output,    Point::link,      Point::unlock,       Point::load};
  const std::vector<Point> deepgemm{Point::probe,   Point::make_dir, Point::write_source, Point::rename_gap, Point::spawn,
                                    Point::compile, Point::output,   Point::publish,      Point::load};
  catalogue.presets = {{"torch-baton", "ninja", true, false, torch},
                       {"torch-flock", "ninja", true, false, torch},
                       {"deepgemm", "popen", false, false, deepgemm},
                       {"daemon", "exec", true, true, torch}};
  catalogue.finding_classes = {"hang", "wedged", "missing", "torn", "herd"};
  return catalogue;
}

inline ParsedScenario parse_text(const std::string& text) { return parse_scenario(text, "scenarios/x.toml", small_catalogue()); }

// The scenario, or a failed test that prints what is wrong with it.
inline Scenario good(const std::string& text) {
  ParsedScenario parsed = parse_text(text);
  EXPECT_THAT(parsed.errors, testing::IsEmpty());
  return parsed.scenario.value_or(Scenario{});
}

// A whole scenario that tests add to.
inline const std::string minimal = "[[subject]]\npreset = \"torch-baton\"\n";

}  // namespace jitrace
