// Lanes that are far apart: each thread goes along *n* words of a row of its own; rows lie so many words *apart*.
#include "common.cuh"

__global__ void most(const float *from, float *to, unsigned apart, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *row = from + (size_t)i * apart;
  float most = -1;
  for (int j = 0; j < n; ++j) most = fmaxf(most, row[j]);
  to[i] = most;
}

__global__ void stored(const float *from, float *to, unsigned apart, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *row = from + (size_t)i * apart;
  float *out = to + (size_t)i * apart;
  for (int j = 0; j < n; ++j) out[j] = row[j] * 2.0f;
}

__global__ void placed(const float *, float *to, unsigned apart, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float *out = to + (size_t)i * apart;
  for (int j = 0; j < n; ++j) out[j] *= 2.0f;
}

// A load of a word and a store of twice that; the compiler moves neither.
__device__ __forceinline__ void doubled(float *word) {
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(word) : "memory");
  asm volatile("st.global.f32 [%0], %1;" :: "l"(word), "f"(v * 2.0f) : "memory");
}

// In place, where the loads do not wait for each other's stores.
__global__ void turned(const float *, float *to, unsigned apart, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float *out = to + (size_t)i * apart;
#pragma unroll 1
  for (int j = 0; j < n; ++j) doubled(out + j);
}

// A row as small as a line, stored to and read again and again.
__global__ void line(const float *, float *to, unsigned apart, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float *out = to + (size_t)i * apart;
#pragma unroll 1
  for (int j = 0; j < n; ++j) doubled(out + j % 32);
}

__global__ void stores(const float *, float *to, unsigned apart, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float *out = to + (size_t)i * apart;
#pragma unroll 1
  for (int j = 0; j < n; ++j) out[j] = n;
}

int main() {
  constexpr size_t WORDS = size_t(1) << 25;  // 128 MiB
  float *from = allocate<float>(WORDS), *to = allocate<float>(WORDS);
  void (*kernels[])(const float *, float *, unsigned, int) = {most, stored, placed, turned, line, stores};
  for (int blocks : {1, 8, 64})
    for (int threads : {32, 128})
      for (unsigned apart : {1056u, 2048u, 10240u})
        for (int n : {256, 1024, 10240})
          if (n <= apart && (n < 10240 || blocks == 8) && size_t(blocks) * threads * apart <= WORDS && (threads == 128 || blocks == 1))
            for (auto kernel : kernels) kernel<<<blocks, threads>>>(from, to, apart, n);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
