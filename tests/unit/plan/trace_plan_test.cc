#include "plan/trace_plan.h"

#include <gtest/gtest.h>

namespace jitrace {
namespace {

TracePlan full() {
  TracePlan plan;
  plan.work = TraceWork::kill;
  plan.command = {"python3", "my loader.py", "{cache}"};
  plan.directory = "/a dir";
  plan.cache = "/c";
  plan.beside = {"/locks/k", "/tmp/x"};
  plan.elsewhere = Noticing::yes;
  plan.restore = "/snap/3";
  plan.snapshots = "/snap";
  plan.snapshot_at = {{"A/ninja", "write .ninja_log", 2, Side::after}};
  plan.step = StepName{"A", "open lock O_WRONLY|O_CREAT|O_EXCL", 1, Side::before};
  plan.who = Victim::builder;
  plan.order = OrphanOrder::held;
  plan.steps = {"A: mkdir k", "A: open lock O_WRONLY|O_CREAT|O_EXCL"};
  plan.unordered = {"A/ninja/sh/c++/cc1plus"};
  plan.polls = 77;
  plan.virtual_bound = seconds(8000);
  plan.limit = seconds(9);
  plan.showed = "hang";
  plan.tapes = "/run/tapes";
  return plan;
}

TEST(TracePlan, TextAndParseAreInverse) {
  TracePlan small;
  small.command = {"true"};
  for (const TracePlan& plan : {full(), small}) {
    const auto read = TracePlan::parse(plan.text());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->text(), plan.text());
  }
  const TracePlan read = TracePlan::parse(full().text()).value();
  EXPECT_EQ(read.step, full().step);
  EXPECT_EQ(read.command, full().command);
  EXPECT_EQ(read.snapshot_at, full().snapshot_at);
  EXPECT_EQ(read.order, OrphanOrder::held);
  EXPECT_EQ(read.unordered, full().unordered);
  EXPECT_EQ(read.elsewhere, Noticing::yes);
}

TEST(TracePlan, FaultsBesideThePlainKillAreKept) {
  TracePlan kill = full();
  kill.signal = 15;
  kill.cut = Cut::all_but_one;
  kill.waiters = 1;
  const TracePlan read = TracePlan::parse(kill.text()).value();
  EXPECT_EQ(read.signal, 15);
  EXPECT_EQ(read.cut, Cut::all_but_one);
  EXPECT_EQ(read.waiters, 1);
  TracePlan answer = full();
  answer.work = TraceWork::answer;
  answer.reply = Reply::lost;
  answer.error = *parse_errno("EEXIST");
  EXPECT_NE(answer.text().find("\nerror EEXIST\n"), std::string::npos) << answer.text();
  EXPECT_EQ(TracePlan::parse(answer.text()).value().error, answer.error);
  EXPECT_EQ(TracePlan::parse(answer.text()).value().reply, Reply::lost);
  EXPECT_FALSE(parse_errno("ENOTHING"));
  for (const auto& [from, to] : {std::pair{"error EEXIST", "error EWHAT"}, std::pair{"reply lost", "reply found"}}) {
    std::string text = answer.text();
    text.replace(text.find(from), std::string(from).size(), to);
    EXPECT_FALSE(TracePlan::parse(text)) << to;
  }
}

TEST(TracePlan, WhatIsWrongIsNamed) {
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = full().text();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto read = TracePlan::parse(text);
    return read ? std::string("was read") : read.error().message();
  };
  EXPECT_NE(refused("work kill", "work burn").find("unknown: burn"), std::string::npos);
  EXPECT_NE(refused("who builder", "who daemon").find("is tree or builder"), std::string::npos);
  EXPECT_NE(refused("order orphan-held", "order sideways").find("sideways"), std::string::npos);
  EXPECT_NE(refused("elsewhere noticed", "elsewhere lost").find("lost"), std::string::npos);
  EXPECT_NE(refused("polls 77", "polls 0").find("polls"), std::string::npos);
  EXPECT_NE(refused("step before", "step beside").find("beside"), std::string::npos);
  EXPECT_NE(refused("jitrace traced-plan 1", "jitrace traced-plan 2").find("traced-plan"), std::string::npos);
  TracePlan nothing = full();
  nothing.step.reset();
  EXPECT_FALSE(TracePlan::parse(nothing.text())) << "a kill without a step";
  nothing = full();
  nothing.command.clear();
  EXPECT_FALSE(TracePlan::parse(nothing.text()));
}

}  // namespace
}  // namespace jitrace
