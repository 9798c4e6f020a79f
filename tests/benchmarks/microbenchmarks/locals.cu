// Local arrays at places that lanes compute, and rows of a thread each; by Nsight Compute.
#include "common.cuh"

enum { LOADED, STORED, BOTH };

// Each lane goes through its own array of 32 words: lanes begin `spread` words apart, and go `step` words on.
template <int WHAT> __global__ void own(unsigned *out, unsigned spread, unsigned step, unsigned trips) {
  unsigned array[32];
  for (unsigned k = 0; k < 32; ++k) array[k] = out[k];
  unsigned at = threadIdx.x * spread & 31, x = 0;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
    if (WHAT != STORED) x = array[at];
    if (WHAT != LOADED) array[at] = x + 1;
    at = (at + step + (x >> 24)) & 31;
  }
  for (unsigned k = 0; k < 32; ++k) x += array[(k + x) & 31];
  out[threadIdx.x + 32] = x;
}

// As a histogram in local memory: each thread reads its row of words, and counts, or with COUNT false only sums.
template <bool COUNT, int EACH> __global__ void counted(const unsigned *data, unsigned *out, unsigned words) {
  unsigned array[32], sum = 0;
  for (unsigned k = 0; k < 32; ++k) array[k] = out[k];
  const unsigned *row = data + threadIdx.x * words;
#pragma unroll 1
  for (unsigned k = 0; k < words; k += EACH) {
#pragma unroll
    for (unsigned e = 0; e < EACH; ++e) {
      unsigned x = row[k + e] & 31;
      if (COUNT) ++array[x]; else sum += x;
    }
  }
  if (COUNT)
    for (unsigned k = 0; k < 32; ++k) sum += array[(k + sum) & 31];
  out[threadIdx.x + 32] = sum;
}

int main() {
  unsigned *out = allocate<unsigned>(1 << 12), *data = allocate<unsigned>(1 << 20);
  upload(data, Numbers().bytes<unsigned>(1 << 20));
  for (unsigned threads : {32, 64, 256})
    for (unsigned spread : {0, 1, 2, 4}) {
      own<LOADED><<<1, threads>>>(out, spread, 1, 1024);
      own<STORED><<<1, threads>>>(out, spread, 1, 1024);
      own<BOTH><<<1, threads>>>(out, spread, 1, 1024);
    }
  own<BOTH><<<1, 32>>>(out, 1, 0, 1024);
  own<BOTH><<<1, 64>>>(out, 0, 0, 1024);
  for (unsigned threads : {32, 64}) {
    counted<false, 1><<<1, threads>>>(data, out, 1024);
    counted<false, 4><<<1, threads>>>(data, out, 1024);
    counted<true, 1><<<1, threads>>>(data, out, 1024);
    counted<true, 4><<<1, threads>>>(data, out, 1024);
    counted<false, 4><<<1, threads>>>(data, out, 4096);
    counted<true, 4><<<1, threads>>>(data, out, 4096);
  }
  finish();
  return 0;
}
