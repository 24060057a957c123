#pragma once

namespace jitrace::test {

// As torch does it: whoever makes the lock builds, the others wait until it is gone. Imports a module `counted`, which
// the test has to put beside it.
inline constexpr const char* python_baton = R"(
import os, subprocess, sys, time
import counted
cache = sys.argv[1]
lock, artifact = os.path.join(cache, "lock"), os.path.join(cache, "artifact")
if not os.path.exists(artifact):
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        while os.path.exists(lock):
            time.sleep(0.1)
    else:
        subprocess.run(["sh", "-c", "echo built > \"$0.new\"; mv \"$0.new\" \"$0\"", artifact], check=True)
        os.remove(lock)
print(open(artifact).read())
)";

}  // namespace jitrace::test
