#include "trace/tape_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"

namespace jitrace {
namespace {

TEST(TapeNames, AreThoseBelowTheTemporaryDirectoryInTheArguments) {
  const auto names =
      TapeNames::of({"as", "-o", "/cache/k.o", "/t/tmp/ccAbCd12.s", "-plugin-opt=-fresolution=/t/tmp/ccXyZw34.res",
                     "/t/tmp/tmpxft_0000abcd_00000000-6_k.ptx", "/t/tmp/k.s"},
                    "/t/tmp");
  EXPECT_THAT(names.values(), ::testing::ElementsAre("/t/tmp", "ccAbCd12", "ccXyZw34", "tmpxft_0000abcd_00000000"));
  EXPECT_EQ(names.general("/t/tmp/ccXyZw34.res of ccAbCd12"), "{tmp}/{t2}.res of {t1}");
  EXPECT_EQ(names.particular("{tmp}/{t2}.res"), "/t/tmp/ccXyZw34.res");
}

TEST(TapeNames, BytesKeepTheirNumberAndWhatOnlyLooksLikeAName) {
  const TapeNames then({"/t/a", "ccAAAAAA", "ccBBBBBB"}), now({"/t/b", "ccBBBBBB", "ccCCCCCC"});
  EXPECT_TRUE(now.fits(then));
  EXPECT_EQ(now.translated("f{t1} /t/a/ccAAAAAA ccBBBBBB", then), "f{t1} /t/b/ccBBBBBB ccCCCCCC")
      << "a new name is no old one";
  EXPECT_FALSE(TapeNames({"/t/long", "ccBBBBBB", "ccCCCCCC"}).fits(then));
  EXPECT_FALSE(TapeNames({"/t/b", "ccBBBBBB"}).fits(then));
  EXPECT_TRUE(TapeNames::is_ambiguous("/x/{t1}.h"));
  EXPECT_FALSE(TapeNames::is_ambiguous("/x/{that}.h"));
}

TEST(Tape, ReadsAsItWasWritten) {
  Tape tape;
  tape.names = TapeNames({"/t", "cc123456"});
  tape.inputs = {{"/usr/include/a b.h", "1:2:3:4:5", 0xabcdef}, {"{tmp}/{t1}.s", "", 7}};
  tape.looks = {{"/not there", TapeLook::Kind::nothing}, {"/usr", TapeLook::Kind::directory}};
  tape.steps = {{TapeStep::Op::open, 3, 577, 0644, "a file", ""},
                {TapeStep::Op::write, 3, -1, 10, "", ""},
                {TapeStep::Op::rename, -1, 0, 0, "a file", "another one\nwith two lines"}};
  const Tape head = Tape::parse_head(tape.head()).value(), body = Tape::parse_body(tape.body()).value();
  EXPECT_EQ(head.head(), tape.head());
  EXPECT_EQ(body.body(), tape.body());
  EXPECT_EQ(head.names.values(), tape.names.values());
  ASSERT_EQ(head.inputs.size(), 2u);
  EXPECT_EQ(head.inputs[0].path, "/usr/include/a b.h");
  EXPECT_EQ(head.inputs[0].digest, 0xabcdefu);
  EXPECT_EQ(head.inputs[1].identity, "");
  ASSERT_EQ(head.looks.size(), 2u);
  EXPECT_EQ(head.looks[1].kind, TapeLook::Kind::directory);
  ASSERT_EQ(body.steps.size(), 3u);
  EXPECT_EQ(body.steps[0].path, "a file");
  EXPECT_EQ(body.steps[1].number2, 10);
  EXPECT_EQ(body.steps[2].path2, "another one\nwith two lines");
  EXPECT_FALSE(Tape::parse_body("jitrace tape-steps 1\njump 1 2 3\n"));
  EXPECT_FALSE(Tape::parse_body("jitrace tape-steps 1\nopen x 2 3\n"));
  EXPECT_FALSE(Tape::parse_head("jitrace tape 1\ninput - nohex /a\n"));
}

class Store : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return join(directory_.path(), name); }
  TapeKey key(const std::string& temporary) const {
    TapeKey key;
    key.program = "/usr/bin/as";
    key.arguments = {"as", at("tmp/" + temporary + ".s")};
    key.directory = directory_.path();
    key.names = TapeNames::of(key.arguments, at("tmp"));
    return key;
  }
  void SetUp() override { ASSERT_TRUE(make_dirs(at("tmp"))); }

  TempDir directory_ = std::move(TempDir::create(::testing::TempDir(), "jitrace-tapes-").value());
  TapeStore store_{at("store"), "/bin/true"};
};

TEST_F(Store, FindsByContentWhateverTheTemporaryNamesAre) {
  ASSERT_TRUE(write_file(at("tmp/ccAAAAAA.s"), ".file \"ccAAAAAA\"\n"));
  Tape tape;
  tape.names = key("ccAAAAAA").names;
  tape.inputs = {{"{tmp}/{t1}.s", "", digest_of(at("tmp/ccAAAAAA.s"), tape.names).value()}};
  ASSERT_TRUE(store_.add(key("ccAAAAAA"), tape));
  EXPECT_TRUE(store_.find(key("ccAAAAAA")));

  ASSERT_TRUE(write_file(at("tmp/ccBBBBBB.s"), ".file \"ccBBBBBB\"\n"));
  const auto found = store_.find(key("ccBBBBBB"));
  ASSERT_TRUE(found);
  EXPECT_EQ(base_of(*found), "as") << "the process is to keep its name";
  ASSERT_TRUE(write_file(at("tmp/ccBBBBBB.s"), ".file \"ccAAAAAA\"\n"));
  EXPECT_FALSE(store_.find(key("ccBBBBBB")));

  TapeKey elsewhere = key("ccAAAAAA"), other = key("ccAAAAAA"), set = key("ccAAAAAA");
  elsewhere.directory = "/";
  other.arguments.push_back("-g");
  set.environment = {"CPATH=/x"};
  EXPECT_FALSE(store_.find(elsewhere));
  EXPECT_FALSE(store_.find(other));
  EXPECT_FALSE(store_.find(set));
}

TEST_F(Store, KeepsATapeOfEachState) {
  Tape without, with;
  without.names = with.names = key("ccAAAAAA").names;
  without.looks = {{at("k.so"), TapeLook::Kind::nothing}};
  with.looks = {{at("k.so"), TapeLook::Kind::file}};
  ASSERT_TRUE(store_.add(key("ccAAAAAA"), without));
  const auto first = store_.find(key("ccAAAAAA"));
  ASSERT_TRUE(write_file(at("k.so"), "torn"));
  EXPECT_FALSE(store_.find(key("ccAAAAAA")));
  ASSERT_TRUE(store_.add(key("ccAAAAAA"), with));
  const auto second = store_.find(key("ccAAAAAA"));
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
}

}  // namespace
}  // namespace jitrace
