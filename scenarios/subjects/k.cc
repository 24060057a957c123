// What the recipes build: the least that can be loaded and asked something.
extern "C" int answer() { return 42; }
