// softmax: eight rows of 128, a row at a time over four warps; shuffles, shared memory, barriers.

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

constexpr int columns = 128;
constexpr int rows = 8;
constexpr int values = rows * columns;

// Small and uneven, so that neither the maximum nor the sum is trivial.
JITRACE_BOTH inline float input_at(int i) { return static_cast<float>((i * 37 + 11) % 29) * 0.125f; }

// exp for 0 >= x >= -4: no library on either side, the same numbers on both.
JITRACE_BOTH inline float exp_at(float x) {
  float term = 1.0f;
  float sum = 1.0f;
  for (int n = 1; n < 24; ++n) {
    term *= x / static_cast<float>(n);
    sum += term;
  }
  return sum;
}

JITRACE_BOTH inline float plain(int i) {
  const int row = i / columns;
  float largest = input_at(row * columns);
  for (int c = 1; c < columns; ++c) {
    const float value = input_at(row * columns + c);
    largest = value > largest ? value : largest;
  }
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += exp_at(input_at(row * columns + c) - largest);
  return 100.0f * exp_at(input_at(i) - largest) / sum;
}

#ifdef JITRACE_HOST
// One pass, as flash attention does it: the sum is scaled whenever the maximum grows.
static void on_host(float* out) {
  for (int row = 0; row < rows; ++row) {
    float largest = input_at(row * columns);
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) {
      const float value = input_at(row * columns + c);
      if (value > largest) {
        sum *= exp_at(largest - value);
        largest = value;
      }
      sum += exp_at(value - largest);
    }
    for (int c = 0; c < columns; ++c) {
      out[row * columns + c] = 100.0f * exp_at(input_at(row * columns + c) - largest) / sum;
    }
  }
}
#else
struct Largest {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Combine>
__device__ float over_block(float value, Combine combine, float* scratch) {
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  return combine(combine(scratch[0], scratch[1]), combine(scratch[2], scratch[3]));
}

extern "C" __global__ void softmax(float* out, float* expected) {
  __shared__ float scratch[4];
  for (int row = 0; row < rows; ++row) {
    const int i = row * columns + static_cast<int>(threadIdx.x);
    const float largest = over_block(input_at(i), Largest{}, scratch);
    const float power = exp_at(input_at(i) - largest);
    out[i] = 100.0f * power / over_block(power, Sum{}, scratch);
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
  softmax<<<1, 128>>>(memory, memory + values);
  int code = cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
  for (int i = 0; i < values && code == 0; ++i) {
    const float off = memory[i] < memory[values + i] ? memory[values + i] - memory[i] : memory[i] - memory[values + i];
    if (!(off <= 1e-2f) || memory[i] == static_cast<float>(-i - 1)) code = 1;
  }
  cudaFree(memory);
  return code;
}
#endif
