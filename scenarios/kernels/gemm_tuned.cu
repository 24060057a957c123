// gemm_tuned: what a tuned library's header does to a compiler. One 32 x 32 product in every combination of tile shape,
// depth and epilogue, each a template of its own, unrolled whole; nvcc needs some seconds for it. All combinations agree,
// so the mean of their results is the result.

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

constexpr int depth = 128;

JITRACE_BOTH inline float plain(int i) {
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a_at(i / columns, k) * b_at(k, i % columns);
  return sum;
}

// What an epilogue does and undoes again: scaling by powers of two is exact.
template <int Kind>
struct Epilogue {
  JITRACE_BOTH static float apply(float value) {
    constexpr float scale = static_cast<float>(1 << (Kind + 1));
    const float scaled = value * scale;
    return (Kind % 2 == 0 ? scaled : -(-scaled)) / scale;
  }
};

#ifdef JITRACE_HOST
template <int Stages, int Kind>
static void variant(float* out) {
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      float sums[Stages] = {};
      for (int k = 0; k < depth; ++k) sums[k % Stages] += a_at(row, k) * b_at(k, column);
      float sum = 0.0f;
      for (int stage = 0; stage < Stages; ++stage) sum += sums[stage];
      out[row * columns + column] += Epilogue<Kind>::apply(sum);
    }
  }
}
constexpr int variants = 6;
static void on_host(float* out) {
  for (int i = 0; i < values; ++i) out[i] = 0.0f;
  variant<1, 0>(out);
  variant<2, 1>(out);
  variant<3, 2>(out);
  variant<4, 3>(out);
  variant<5, 0>(out);
  variant<8, 1>(out);
  for (int i = 0; i < values; ++i) out[i] /= static_cast<float>(variants);
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

// Instructions that only the `a` targets have, at places where they wait for nothing: the code is bound to its target.
__device__ inline void target_fence() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.fence.sync.aligned;\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
#elif defined(__CUDA_ARCH_FEAT_SM100_ALL)
  asm volatile("tcgen05.fence::before_thread_sync;\n\ttcgen05.fence::after_thread_sync;" ::: "memory");
#endif
}

// Tile: columns a warp takes at once, in eighths. Stages: independent accumulators.
template <int Tile, int Stages, int Kind>
struct Variant {
  static constexpr int steps = depth / 16;

  __device__ __noinline__ static void add(float* out) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int row = warp / 2 * 16;
#pragma unroll
    for (int first = 0; first < 2; first += Tile) {
      float c[Stages][Tile][4] = {};
#pragma unroll
      for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int tile = 0; tile < Tile; ++tile) {
          multiply(c[step % Stages][tile], row, warp % 2 * 16 + (first + tile) * 8, step * 16);
        }
      }
#pragma unroll
      for (int tile = 0; tile < Tile; ++tile) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          float sum = 0.0f;
#pragma unroll
          for (int stage = 0; stage < Stages; ++stage) sum += c[stage][tile][j];
          const int column = warp % 2 * 16 + (first + tile) * 8 + lane % 4 * 2 + j % 2;
          out[(row + lane / 4 + j / 2 * 8) * columns + column] += Epilogue<Kind>::apply(sum);
        }
      }
    }
  }
};

template <int Tile, int Stages, int... Kinds>
struct AllKinds {
  static constexpr int count = sizeof...(Kinds);
  __device__ static void add(float* out) { (Variant<Tile, Stages, Kinds>::add(out), ...); }
};
template <int Tile, int... Stages>
struct AllStages {
  static constexpr int count = (AllKinds<Tile, Stages, 0, 1, 2, 3>::count + ...);
  __device__ static void add(float* out) { (AllKinds<Tile, Stages, 0, 1, 2, 3>::add(out), ...); }
};

extern "C" __global__ void gemm_tuned(float* out, float* expected) {
  for (int i = static_cast<int>(threadIdx.x); i < values; i += static_cast<int>(blockDim.x)) {
    out[i] = 0.0f;
    expected[i] = plain(i);
  }
  __syncthreads();
  using Narrow = AllStages<1, 1, 2, 3, 4>;
  using Wide = AllStages<2, 1, 2, 3, 4>;
  Narrow::add(out);
  Wide::add(out);
  target_fence();
  __syncthreads();
  constexpr float count = static_cast<float>(Narrow::count + Wide::count);
  for (int i = static_cast<int>(threadIdx.x); i < values; i += static_cast<int>(blockDim.x)) out[i] /= count;
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
  gemm_tuned<<<1, 128>>>(memory, memory + values);
  int code = cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
  for (int i = 0; i < values && code == 0; ++i) {
    const float off = memory[i] < memory[values + i] ? memory[values + i] - memory[i] : memory[i] - memory[values + i];
    if (!(off <= 1e-2f) || memory[i] == static_cast<float>(-i - 1)) code = 1;
  }
  cudaFree(memory);
  return code;
}
#endif
