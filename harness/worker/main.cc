#include "worker/run_worker.h"

int main(int argc, char** argv) { return jitrace::worker_main(argc, argv); }
