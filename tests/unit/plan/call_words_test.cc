#include "plan/call_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace jitrace {
namespace {

struct Taken {
  std::string what, verb, path, target, detail;
};

TEST(CallWords, AreTakenApart) {
  for (const Taken& taken : std::vector<Taken>{
           {"stat lock", "stat", "lock", "", ""},
           {"open lock O_RDWR|O_CREAT", "open", "lock", "", "O_RDWR|O_CREAT"},
           {"open a file O_RDONLY", "open", "a file", "", "O_RDONLY"},
           {"open O_EXCL O_RDONLY", "open", "O_EXCL", "", "O_RDONLY"},
           {"flock ../a.lock LOCK_EX|LOCK_NB", "flock", "../a.lock", "", "LOCK_EX|LOCK_NB"},
           {"lock db F_OFD_SETLKW F_WRLCK", "lock", "db", "", "F_OFD_SETLKW F_WRLCK"},
           {"lock db F_SETLK F_UNLCK", "lock", "db", "", "F_SETLK F_UNLCK"},
           {"rename a b -> c d", "rename", "a b", "c d", ""},
           {"rename a -> b RENAME_NOREPLACE", "rename", "a", "b", "RENAME_NOREPLACE"},
           {"link a -> b", "link", "a", "b", ""},
           {"copy to b.o", "copy", "b.o", "", ""},
           {"write e.o", "write", "e.o", "", ""},
           {"sleep", "sleep", "", "", ""},
           {"", "", "", "", ""},
       }) {
    const CallWords words(taken.what);
    EXPECT_EQ(words.verb(), taken.verb) << taken.what;
    EXPECT_EQ(words.path(), taken.path) << taken.what;
    EXPECT_EQ(words.target(), taken.target) << taken.what;
    EXPECT_EQ(words.detail(), taken.detail) << taken.what;
  }
}

TEST(CallWords, AFlagIsAWholeWordBehindThePath) {
  EXPECT_TRUE(CallWords("open lock O_RDWR|O_CREAT").has("O_CREAT"));
  EXPECT_TRUE(CallWords("lock db F_SETLKW F_WRLCK").has("F_WRLCK"));
  EXPECT_FALSE(CallWords("lock db F_OFD_SETLKW F_WRLCK").has("F_SETLKW"));
  EXPECT_FALSE(CallWords("open O_EXCL O_RDONLY").has("O_EXCL")) << "that is its name";
}

TEST(CallWords, WhoOnlyLooks) {
  for (const char* look : {"stat lock", "open lock O_RDWR|O_CREAT", "open O_EXCL O_RDONLY", "flock lock LOCK_EX|LOCK_NB", "close lock"}) {
    EXPECT_TRUE(CallWords(look).only_looks()) << look;
  }
  for (const char* other : {"mkdir lock", "open lock O_WRONLY|O_CREAT|O_EXCL", "open k.so O_WRONLY|O_TRUNC", "write k.so",
                            "rename a -> b", "unlink lock"}) {
    EXPECT_FALSE(CallWords(other).only_looks()) << other;
  }
}

TEST(CallWords, WhoWaitsForALock) {
  EXPECT_TRUE(CallWords("flock lock LOCK_EX").waits_for_lock());
  EXPECT_TRUE(CallWords("lock db F_OFD_SETLKW F_RDLCK").waits_for_lock());
  for (const char* other : {"flock lock LOCK_EX|LOCK_NB", "flock lock LOCK_UN", "lock db F_SETLK F_WRLCK", "stat lock"}) {
    EXPECT_FALSE(CallWords(other).waits_for_lock()) << other;
  }
}

struct Names {
  std::string what, may_make, makes, removes;
};

TEST(CallWords, NamesThatComeAndGo) {
  for (const Names& names : std::vector<Names>{
           {"mkdir lock.d", "lock.d", "lock.d", ""},
           {"make sock", "sock", "sock", ""},
           {"symlink lock", "lock", "lock", ""},
           {"link tmp.# -> lock", "lock", "lock", ""},
           {"open lock O_WRONLY|O_CREAT|O_EXCL", "lock", "lock", ""},
           {"open lock O_RDWR|O_CREAT", "lock", "", ""},
           {"open lock O_RDWR", "", "", ""},
           {"rename tmp.# -> k.so", "k.so", "", "tmp.#"},
           {"unlink lock", "", "", "lock"},
           {"rmdir lock.d", "", "", "lock.d"},
           {"write lock", "", "", ""},
       }) {
    const CallWords words(names.what);
    EXPECT_EQ(words.may_make(), names.may_make) << names.what;
    EXPECT_EQ(words.makes(), names.makes) << names.what;
    EXPECT_EQ(words.removes(), names.removes) << names.what;
  }
}

}  // namespace
}  // namespace jitrace
