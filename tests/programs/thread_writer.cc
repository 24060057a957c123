// Four threads write a file of the cache each, at the same time, and share one more.  thread_writer CACHE
#include <thread>
#include <vector>

#include "cache_file.h"

int main(int, char** argv) {
  constexpr int threads = 4;
  constexpr int pieces = 8;
  const int shared = open_in(argv[1], "shared", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([cache = argv[1], shared, i] {
      const char name[] = {'t', static_cast<char>('0' + i), '\0'};
      make_file(cache, name, pieces);
      write_pieces(shared, pieces);
    });
  }
  for (auto& thread : running) thread.join();
  ::close(shared);
  bool whole = has_pieces(argv[1], "shared", threads * pieces);
  for (const char* name : {"t0", "t1", "t2", "t3"}) whole = has_pieces(argv[1], name, pieces) && whole;
  return whole ? 0 : 1;
}
