// One call by the 32-bit entry of the kernel, which any 64-bit program has, and then a file of the cache.
//   calls_32bit CACHE
#include "cache_file.h"

int main(int, char** argv) {
#ifdef __x86_64__
  long answer = 20;  // getpid there
  asm volatile("int $0x80" : "+a"(answer) : : "memory", "r8", "r9", "r10", "r11");
#endif
  make_file(argv[1], "after", 3);
  return 0;
}
