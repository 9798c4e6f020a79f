// What the programs of this folder share: errors, arrays on the device, cycles of loops, and figures as JSON.
#pragma once
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t status = (call);                                                         \
    if (status != cudaSuccess) {                                                         \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status));      \
      exit(1);                                                                           \
    }                                                                                    \
  } while (0)

constexpr int SMS = 132;  // of an H200

// Waits for everything launched so far.
inline void finish() {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

// A device array of so many elements, all zero.
template <class T> T *allocate(size_t count) {
  T *array;
  CHECK(cudaMalloc(&array, count * sizeof(T)));
  CHECK(cudaMemset(array, 0, count * sizeof(T)));
  return array;
}

template <class T> void upload(T *array, const std::vector<T> &values) {
  CHECK(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
}

// The first elements of a device array, after everything launched so far.
template <class T> std::vector<T> download(const T *array, size_t count) {
  finish();
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), array, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// A hash whose bits look like those of chance.
__host__ __device__ inline unsigned hashed(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu;
  return x ^ x >> 16;
}

// The data of the committed counters: bits of s = 1664525 s + 1013904223.
struct Numbers {
  unsigned s = 12345;
  unsigned next() { return s = 1664525u * s + 1013904223u; }
  int byte() { return next() >> 16 & 255; }
  template <class T> std::vector<T> bytes(size_t count) {
    std::vector<T> values(count);
    for (T &value : values) value = byte();
    return values;
  }
};

// Adds a figure to the JSON object on standard output; its name is given as to printf.
inline bool reported = false;
inline void report(double value, const char *name, ...) {
  printf(reported ? ",\n  \"" : "{\n  \"");
  reported = true;
  va_list parts;
  va_start(parts, name);
  vprintf(name, parts);
  va_end(parts);
  printf("\": %.4f", value);
}

inline void end_report() { printf("\n}\n"); }

// What the clocked kernels write: cycles of each block (or warp), and what keeps their work from being left out.
inline long long *d_cycles;
inline unsigned *d_sink;

inline void start_clocked() {
  d_cycles = allocate<long long>(4096);
  d_sink = allocate<unsigned>(1 << 18);
}

// Mean cycles of the blocks of the last launch.
inline double read_cycles(int blocks = 1) {
  double sum = 0;
  for (long long cycles : download(d_cycles, blocks)) sum += double(cycles);
  return sum / blocks;
}

// Cycles of launch(many) beyond those of launch(few), each the second time that it runs.
template <class Launch, class Few, class Many> double slope(Launch launch, Few few, Many many, int blocks = 1) {
  double cycles = 0;
  for (int round = 0; round < 2; ++round) {
    launch(few);
    cycles = -read_cycles(blocks);
    launch(many);
    cycles += read_cycles(blocks);
  }
  return cycles;
}

// The SM's cycle, 32 bits of it.
__device__ __forceinline__ unsigned now() {
  unsigned c;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
  return c;
}

// The number of the SM, and the place of the warp in it.
__device__ __forceinline__ unsigned own_sm() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

__device__ __forceinline__ unsigned own_place() {
  unsigned place;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
  return place;
}

// Cycles of trips * UNROLL steps of a warp, the second time that they run; *step* takes the trip and the number in it.
// With MEET the warps of the block meet before and after.
template <int UNROLL, bool MEET = true, class Step> __device__ __forceinline__ long long timed(int trips, Step step) {
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    if (MEET) __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) step(i, k);
    }
    if (MEET) __syncthreads();
    start = clock64() - start;
  }
  return start;
}
