// gemm: 32 x 32 x 64 on the tensor cores by mma.sync, which sm_90a and sm_100a both have.

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

constexpr int rows = 32;
constexpr int columns = 32;
constexpr int values = rows * columns;

// Small integers: exact in half precision, and so is every sum of them here in single.
JITRACE_BOTH inline float a_at(int row, int k) { return static_cast<float>((row * 7 + k * 3) % 9 - 4); }
JITRACE_BOTH inline float b_at(int k, int column) { return static_cast<float>((k * 5 + column * 11) % 7 - 3); }

constexpr int depth = 64;

JITRACE_BOTH inline float plain(int i) {
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a_at(i / columns, k) * b_at(k, i % columns);
  return sum;
}

#ifdef JITRACE_HOST
static void on_host(float* out) {
  for (int i = 0; i < values; ++i) out[i] = 0.0f;
  for (int tile = 0; tile < depth; tile += 16) {
    for (int row = 0; row < rows; ++row) {
      for (int k = tile; k < tile + 16; ++k) {
        for (int column = 0; column < columns; ++column) out[row * columns + column] += a_at(row, k) * b_at(k, column);
      }
    }
  }
}
#else
__device__ inline unsigned pack(float low, float high) {
  unsigned packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// One m16n8k16 step of a warp: fragments as the PTX manual lays them out over the lanes.
__device__ inline void multiply(float (&c)[4], int row, int column, int k) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int group = lane / 4;
  const int pair = lane % 4 * 2;
  unsigned a[4];
  unsigned b[2];
  for (int half = 0; half < 2; ++half) {
    const int at = k + pair + half * 8;
    a[half * 2] = pack(a_at(row + group, at), a_at(row + group, at + 1));
    a[half * 2 + 1] = pack(a_at(row + group + 8, at), a_at(row + group + 8, at + 1));
    b[half] = pack(b_at(at, column + group), b_at(at + 1, column + group));
  }
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void gemm(float* out, float* expected) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp / 2 * 16;
  for (int tile = 0; tile < 2; ++tile) {
    const int column = warp % 2 * 16 + tile * 8;
    float c[4] = {};
    for (int k = 0; k < depth; k += 16) multiply(c, row, column, k);
    for (int j = 0; j < 4; ++j) {
      out[(row + lane / 4 + j / 2 * 8) * columns + column + lane % 4 * 2 + j % 2] = c[j];
    }
  }
  for (int i = static_cast<int>(threadIdx.x); i < values; i += static_cast<int>(blockDim.x)) expected[i] = plain(i);
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
  gemm<<<1, 128>>>(memory, memory + values);
  int code = cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
  for (int i = 0; i < values && code == 0; ++i) {
    const float off = memory[i] < memory[values + i] ? memory[values + i] - memory[i] : memory[i] - memory[values + i];
    if (!(off <= 1e-2f) || memory[i] == static_cast<float>(-i - 1)) code = 1;
  }
  cudaFree(memory);
  return code;
}
#endif
