// Data that several SMs share: read by all in step, anywhere in a table, and added to by all; by Nsight Compute.
#include "common.cuh"

// All blocks read the same lines, one after the other; each begins `apart` lines after the one before.
extern "C" __global__ void march(const unsigned *table, unsigned lines, unsigned apart, unsigned *out) {
  unsigned at = blockIdx.x * apart % lines, sum = 0;
  for (unsigned i = 0; i < lines; ++i) {
    unsigned value = table[at * 32 + threadIdx.x % 32];
    sum += value;
    at = at + 1 + value;
    if (at >= lines) at -= lines;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Each run of `run` lanes reads words that follow each other, anywhere in `words` words, `trips` times.
extern "C" __global__ void anywhere(const unsigned *table, unsigned words, unsigned run, unsigned trips, unsigned *out) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (unsigned i = 0; i < trips; ++i)
    sum += table[(hashed(thread / run + i * 0x9e3779b9u) & (words / run - 1)) * run + thread % run];
  out[thread] = sum;
}

// A histogram in global memory, with so many bins, of words that a hash gives.
extern "C" __global__ void bins(unsigned *out, unsigned n, unsigned trips) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < trips; ++i) atomicAdd(&out[hashed(thread + i * 0x9e3779b9u) % n], 1u);
}

int main() {
  unsigned *table = allocate<unsigned>(1 << 28), *out = allocate<unsigned>(1 << 22);
  for (unsigned threads : {32u, 256u})
    for (unsigned apart : {0u, 1u, 3u, 15u, 61u}) march<<<SMS, threads>>>(table, 2048, apart, out);
  for (unsigned blocks : {1u, 4u, 16u, 64u}) march<<<blocks, 32>>>(table, 2048, 0, out);
  for (unsigned words : {1u << 20, 1u << 22, 1u << 24, 1u << 28})
    for (unsigned run : {1u, 8u, 32u}) anywhere<<<4096, 256>>>(table, words, run, 4, out);
  for (unsigned n : {1u, 2u, 4u, 8u, 16u, 26u, 32u, 64u, 256u, 1024u}) bins<<<512, 512>>>(out, n, 4);
  finish();
  return 0;
}
