// What L2 writes to DRAM and reads from there again: lines that several stores fill, with time between them, transposes,
// and what stays of stored lines beside data that all SMs read; by Nsight Compute.
#include "common.cuh"

__device__ __forceinline__ void wait(unsigned cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// A picture: each thread stores so many parts of a pixel, which is `step` of them wide, with a pause after each.
template <class T> __global__ void pixels(T *to, unsigned pitch, unsigned step, unsigned stores, unsigned pause) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  volatile T *mine = to + (size_t)y * pitch + x * step;
  for (unsigned k = 0; k < stores; ++k) {
    mine[k] = (T)k;
    wait(pause);
  }
}

// Each thread stores the 32 words of a line, with a pause after each: sector after sector, or (SPREAD) one of each sector
// in turn.  Lines of threads that follow each other are `apart` lines apart, those of each `rows` threads side by side.
template <bool SPREAD> __global__ void lines(unsigned *to, unsigned rows, unsigned apart, unsigned pause) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  volatile unsigned *mine = to + 32 * ((size_t)(t % rows) * apart + t / rows);
  for (unsigned k = 0; k < 32; ++k) {
    mine[SPREAD ? k % 4 * 8 + k / 4 : k] = k;
    wait(pause);
  }
}

// A transpose by tiles whose rows the block's threads store one after the other: without READS it stores a number.
template <bool READS> __global__ void transpose(const unsigned *from, unsigned *to, unsigned pitch, unsigned tile) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  for (unsigned i = 0; i < tile; i += blockDim.y)
    to[(size_t)x * pitch + y + i] = READS ? from[(size_t)(y + i) * pitch + x] : i;
}

// All blocks read so many pieces of 16 KiB again and again, `passes` times; meanwhile they read `once` other pieces, and
// each stores `stores` pieces of its own.
__global__ void beside(const uint4 *again, unsigned pieces, unsigned passes, const uint4 *other, unsigned once, uint4 *to,
                       unsigned stores) {
  unsigned sum = 0, all = pieces * passes, seen = 0, stored = 0;
  for (unsigned k = 0; k < all; ++k) {
    sum += again[k % pieces * blockDim.x + threadIdx.x].x;
    if ((k + 1) * once / all > seen) sum += other[seen++ * blockDim.x + threadIdx.x].x;
    if ((k + 1) * stores / all > stored) {
      to[(stored * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = make_uint4(1, 2, 3, 4);
      ++stored;
    }
  }
  if (sum == 77) to->x = sum;
}

// c = a b: c has n columns, a and b have k in common.
__global__ void product(const float *a, const float *b, float *c, unsigned n, unsigned k) {
  unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

int main() {
  using u8 = unsigned char;
  using u16 = unsigned short;
  using u32 = unsigned;
  u32 *from = allocate<u32>(1 << 26), *to = allocate<u32>(1 << 26);
  auto picture = [&](auto *t, unsigned width, unsigned height, dim3 block, unsigned step, unsigned stores, unsigned pause) {
    pixels<<<dim3(width / block.x, height / block.y), block>>>(t, width * step, step, stores, pause);
  };
  const dim3 square(16, 16), wide(32, 8), tall(8, 32), row(256, 1), full(32, 32);
  for (unsigned pause : {0, 1000, 10000}) {
    picture((u8 *)to, 2048, 2048, square, 3, 3, pause);
    picture((u8 *)to, 2048, 2048, wide, 3, 3, pause);
  }
  for (dim3 block : {tall, row, full}) picture((u8 *)to, 2048, 2048, block, 3, 3, 1000);
  for (unsigned stores : {1, 2}) {
    picture((u8 *)to, 2048, 2048, square, 3, stores, 1000);
    picture((u8 *)to, 2048, 2048, wide, 3, stores, 1000);
  }
  picture((u8 *)to, 2048, 2048, square, 4, 4, 1000);
  picture((u8 *)to, 2048, 2048, square, 2, 2, 1000);
  picture((u8 *)to, 2048, 2048, square, 8, 8, 1000);
  picture((u16 *)to, 2048, 2048, square, 3, 3, 1000);
  picture((u16 *)to, 2048, 2048, square, 2, 1, 1000);
  picture(to, 1024, 2048, square, 3, 3, 1000);
  picture(to, 1024, 2048, square, 3, 1, 1000);
  picture(to, 1024, 2048, wide, 3, 3, 1000);
  for (unsigned each : {1, 2, 3, 4, 5, 6, 8}) {
    lines<false><<<132 * each, 256>>>(to, 1 << 20, 1, 1000);
    lines<true><<<132 * each, 256>>>(to, 1 << 20, 1, 1000);
  }
  for (unsigned apart : {64, 255, 256, 1024})
    for (unsigned each : {1, 2}) lines<false><<<128 * each, 256>>>(to, apart == 1024 ? 2048 : 4096, apart, 1000);
  for (unsigned n : {1024, 2048, 4096, 8192}) {
    dim3 tiles(n / 32, n / 32);
    transpose<true><<<tiles, wide>>>(from, to, n, 32);
    transpose<true><<<tiles, full>>>(from, to, n, 32);
    transpose<true><<<dim3(n / 16, n / 16), square>>>(from, to, n, 16);
  }
  for (unsigned pitch : {8160, 8168, 8128}) transpose<true><<<dim3(254, 254), wide>>>(from, to, pitch, 32);
  for (unsigned n : {4096, 8192}) {
    transpose<true><<<dim3(n / 32, n / 8), wide>>>(from, to, n, 8);
    transpose<false><<<dim3(n / 32, n / 32), wide>>>(from, to, n, 32);
    transpose<true><<<dim3(n / 8, n / 32), tall>>>(from, to, n, 32);
  }
  auto mixed = [&](unsigned mib, unsigned passes, unsigned once, unsigned stores) {
    beside<<<132, 1024>>>((const uint4 *)from, mib * 64, passes, (const uint4 *)(from + (1 << 24)), once * 64, (uint4 *)to, stores);
  };
  for (unsigned mib : {4, 8, 12, 16, 20})
    for (unsigned stores : {2, 4, 8}) mixed(mib, 3, 0, stores);
  for (unsigned once : {8, 16, 32}) {
    mixed(4, 12, once, 4);
    mixed(8, 6, once, 4);
  }
  mixed(8, 1, 0, 8);
  mixed(16, 1, 0, 8);
  mixed(32, 1, 0, 4);
  for (unsigned n : {1024, 1280, 1440, 1600, 1760, 2048}) product<<<dim3(n / 16, n / 16), square>>>((float *)from, (float *)from + (1 << 25), (float *)to, n, n);
  for (unsigned k : {1024, 2048}) product<<<dim3(128, 32), full>>>((float *)from, (float *)from + (1 << 25), (float *)to, 4096, k);
  finish();
  return 0;
}
