// axpy: the least that a compiler can be asked for.
//
// Every kernel here fills out[1024] by the way that is under test and expected[1024] by a plain formula, from one block of
// 128 threads; the loader compares. Inputs follow from the index, so nobody has to hand any in. With JITRACE_HOST the file
// is host C++ and computes on the CPU. A kernel must stand alone (subjects copy it) and include nothing.

#ifndef JITRACE_STAMP
#define JITRACE_STAMP 0000000000000000
#endif
#define JITRACE_TEXT_OF(x) #x
#define JITRACE_TEXT(x) JITRACE_TEXT_OF(x)

#ifdef JITRACE_HOST
#define JITRACE_BOTH
extern "C" const char jitrace_stamp[];
const char jitrace_stamp[] = "JITRACE:" JITRACE_TEXT(JITRACE_STAMP);
#else
#define JITRACE_BOTH __host__ __device__
extern "C" __device__ const char jitrace_stamp[] = "JITRACE:" JITRACE_TEXT(JITRACE_STAMP);
#endif

constexpr int values = 1024;
constexpr float factor = 1.5f;

JITRACE_BOTH inline float x_at(int i) { return static_cast<float>(i) * 0.5f; }
JITRACE_BOTH inline float y_at(int i) { return 1000.0f - static_cast<float>(i); }
JITRACE_BOTH inline float axpy_at(int i) { return factor * x_at(i) + y_at(i); }
JITRACE_BOTH inline float plain(int i) { return 1000.0f - 0.25f * static_cast<float>(i); }

#ifdef JITRACE_HOST
static void on_host(float* out) {
  for (int i = 0; i < values; ++i) out[i] = axpy_at(i);
}
#else
extern "C" __global__ void axpy(float* out, float* expected) {
  for (int i = static_cast<int>(threadIdx.x); i < values; i += static_cast<int>(blockDim.x)) {
    out[i] = axpy_at(i);
    expected[i] = plain(i);
  }
}
#endif

#ifdef JITRACE_HOST
static int compare(const float* out, const float* expected) {
  for (int i = 0; i < values; ++i) {
    const float off = out[i] < expected[i] ? expected[i] - out[i] : out[i] - expected[i];
    if (!(off <= 1e-2f)) return 1;
  }
  return 0;
}

extern "C" int jitrace_selfcheck() {
  static float out[values];
  static float expected[values];
  on_host(out);
  for (int i = 0; i < values; ++i) expected[i] = plain(i);
  return compare(out, expected);
}
#elif !defined(__CUDACC_RTC__)
// 0: right, or no device to try it on; 1: wrong numbers; 2: it did not run.
extern "C" int jitrace_selfcheck() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 0;
  float* memory = nullptr;
  if (cudaMallocManaged(&memory, 2 * values * sizeof(float)) != cudaSuccess) return 2;
  for (int i = 0; i < 2 * values; ++i) memory[i] = static_cast<float>(-i - 1);
  axpy<<<1, 128>>>(memory, memory + values);
  int code = cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
  for (int i = 0; i < values && code == 0; ++i) {
    const float off = memory[i] < memory[values + i] ? memory[values + i] - memory[i] : memory[i] - memory[values + i];
    if (!(off <= 1e-2f) || memory[i] == static_cast<float>(-i - 1)) code = 1;
  }
  cudaFree(memory);
  return code;
}
#endif
