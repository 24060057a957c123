// A thread, not the first, becomes the program anew, which writes a file of the cache.  thread_exec CACHE
#include <thread>

#include "cache_file.h"

int main(int argc, char** argv) {
  if (argc == 3) {
    make_file(argv[1], "after", 3);
    return has_pieces(argv[1], "after", 3) ? 0 : 1;
  }
  make_file(argv[1], "before", 3);
  std::thread([argv] {
    char again[] = "again";
    char* const arguments[] = {argv[0], argv[1], again, nullptr};
    ::execve("/proc/self/exe", arguments, environ);
    ::_exit(71);
  }).join();
  return 70;
}
