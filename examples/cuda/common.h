// What the programs share: checked CUDA calls, numbers on the command line.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

// Ends the program with the place and the reason if a call of the CUDA runtime fails.
#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cudaError_t code = (call);                                                                  \
    if (code != cudaSuccess) {                                                                        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(code)); \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (0)

// Waits for the kernel that was just launched; both the launch and the kernel may fail.
inline void finish() {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

// Argument `index`, a number such as 1000 or 2^20; `otherwise` if it is not there.
inline unsigned number(int argc, char **argv, int index, unsigned otherwise) {
  if (index >= argc) return otherwise;
  char *end = nullptr;
  unsigned long value = std::strtoul(argv[index], &end, 10);
  if (*end == '^') value = value == 2 ? 1ul << (std::strtoul(end + 1, &end, 10) & 31) : 0;
  if (*end != '\0' || value == 0 || value > 1ul << 30) {
    std::fprintf(stderr, "%s is not a number from 1 to 2^30\n", argv[index]);
    std::exit(2);
  }
  return static_cast<unsigned>(value);
}

inline unsigned divide_up(unsigned a, unsigned b) { return (a + b - 1) / b; }

// The same numbers on every computer: from -128 to 127.
inline void fill(int *values, unsigned count) {
  unsigned state = 1;
  for (unsigned i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = static_cast<int>(state >> 24) - 128;
  }
}
