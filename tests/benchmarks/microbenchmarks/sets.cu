// Which lines, so many and so far apart, L1 finds again: one warp sweeps over them 16 times, and loads or stores.
#include "common.cuh"

template <bool STORES>
__global__ void swept(unsigned int *p, unsigned int lines, unsigned int stride, unsigned int rounds) {
  unsigned int sum = 0;
  for (unsigned int round = 0; round < rounds; round++)
    for (unsigned int k = threadIdx.x; k < lines; k += 32) {
      unsigned int *at = p + (size_t)k * stride * 32 + (sum & 1);  // zeros: each waits for the one before
      if (STORES) {
        *(volatile unsigned int *)at = 0;
        __syncwarp();
      } else {
        sum += *at;
      }
    }
  if (sum == 12345) p[1] = sum;
}

int main() {
  unsigned int *p = allocate<unsigned int>((size_t)1 << 28);
  for (int stores = 0; stores < 2; stores++)
    for (unsigned int stride : {1, 2, 3, 4, 8, 16, 22, 32, 33, 64, 128, 256, 1024})
      for (unsigned int lines : {32, 64, 96, 128, 192, 256, 384, 512, 1024, 1536}) {
        if (stores) swept<true><<<1, 32>>>(p, lines, stride, 16);
        else swept<false><<<1, 32>>>(p, lines, stride, 16);
        finish();
      }
}
