// The first thread ends; another sleeps for ten minutes and then writes a file of the cache.  leader_ends CACHE
#include <pthread.h>

#include <ctime>
#include <thread>

#include "cache_file.h"

int main(int, char** argv) {
  std::thread([cache = argv[1]] {
    const timespec long_time{600, 0};
    ::nanosleep(&long_time, nullptr);
    make_file(cache, "late", 3);
    ::_exit(0);
  }).detach();
  ::pthread_exit(nullptr);
}
