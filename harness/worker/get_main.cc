#include "worker/alone.h"

int main(int argc, char** argv) { return jitrace::alone_main(argc, argv); }
