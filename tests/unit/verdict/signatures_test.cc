#include "verdict/signatures.h"

#include <set>

#include <gtest/gtest.h>

#include "verdict/finding.h"

namespace jitrace {
namespace {

// Every row is reached by its own pattern, so no row stands in the shadow of one before it.
TEST(Signatures, EveryRowAnswersToItsPattern) {
  for (const SignatureRow& row : signature_rows()) {
    std::string line = row.pattern;
    for (std::size_t star = line.find('*'); star != std::string::npos; star = line.find('*'))
      line.replace(star, 1, " x ");
    const auto found = classify("before\n  " + line + " after\nlast line");
    ASSERT_TRUE(found) << row.pattern;
    EXPECT_EQ(found->kind, row.kind) << row.pattern;
    EXPECT_EQ(found->code, row.code) << row.pattern;
    EXPECT_EQ(found->line, line + " after");
  }
}

TEST(Signatures, RealTexts) {
  struct Case {
    const char* text;
    const char* kind;
    const char* code;
  };
  const Case cases[] = {
      {"CUDA driver error (csrc/jit/handle.hpp:59): 301 (CUDA_ERROR_FILE_NOT_FOUND, file not found)", "missing", "301"},
      {"301 (elf, simulated)", "missing", "301"},
      {"RuntimeError: CUDA driver error: device kernel image is invalid", "torn", "200"},
      {"CUDA error: no kernel image is available for execution on the device", "foreign", "209"},
      {"cc1plus: fatal error: /c/kernel.cu: No such file or directory\ncompilation terminated.", "source_missing",
       "cc1plus"},
      {"ninja: error: '/c/main.cpp', needed by 'main.o', missing and no known rule to make it", "source_missing",
       "ninja"},
      {"/c/x.cu:1:10: fatal error: nothere.h: No such file or directory", "compile_error", "cc1plus"},
      {"OSError: /c/k.so: file too short", "torn", "dlopen"},
      {"ImportError: /c/k.so: cannot open shared object file: No such file or directory", "missing", "dlopen"},
      {"ninja: build stopped: subcommand failed.", "build_failed", "ninja"},
      {"FAILED: k.o\nKilled signal terminated program cc1plus\nninja: build stopped: subcommand failed.", "killed",
       "SIGKILL"},
      {"OSError: [Errno 116] Stale file handle", "stale_handle", "ESTALE"},
      {"write: No space left on device", "no_space", "ENOSPC"},
      {"kernel.cu(3): error: identifier \"x\" is undefined", "compile_error", "cicc"},
      {"main.cpp:3:1: error: 'x' was not declared in this scope", "compile_error", "g++"},
      {"Assertion error (csrc/jit/compiler.hpp:147): runtime != nullptr", "hidden", "assertion"},
      {"terminate called after throwing\n  what():  rename: No such file or directory", "missing", "ENOENT"},
  };
  for (const Case& one : cases) {
    const auto found = classify(one.text);
    ASSERT_TRUE(found) << one.text;
    EXPECT_EQ(found->kind, one.kind) << one.text;
    EXPECT_EQ(found->code, one.code) << one.text;
  }
}

TEST(Signatures, WhatNoRowKnowsIsNothing) {
  EXPECT_FALSE(classify(""));
  EXPECT_FALSE(classify("all went well"));
}

TEST(Signatures, ABrokenTableIsRefusedWhole) {
  EXPECT_FALSE(parse_signatures("missing | 301 | good\nno columns here\n"));
  EXPECT_FALSE(parse_signatures("missing | | pattern\n"));
  EXPECT_EQ(parse_signatures("# a comment\n\nmissing | 301 | a | b\n")->front().pattern, "a | b");
}

TEST(FindingClass, NamesThereAndBack) {
  std::set<std::string> names;
  for (const std::string& name : finding_class_names()) {
    EXPECT_TRUE(names.insert(name).second);
    ASSERT_TRUE(parse_finding_class(name));
    EXPECT_EQ(name_of(*parse_finding_class(name)), name);
    EXPECT_FALSE(describe(*parse_finding_class(name)).empty());
  }
  EXPECT_FALSE(parse_finding_class("nonsense"));
  EXPECT_LT(Grade::pass, Grade::inconclusive);
  EXPECT_LT(Grade::inconclusive, Grade::fail);
}

}  // namespace
}  // namespace jitrace
