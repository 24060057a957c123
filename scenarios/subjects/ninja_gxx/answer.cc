#include "half.h"

extern "C" int answer() { return 2 * half(); }
