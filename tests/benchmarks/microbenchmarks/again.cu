// The same words stored, loaded and added to again and again, by one warp and by all SMs; stores that follow each other
// to the same sectors; transposes; by Nsight Compute.
#include "common.cuh"

// Each lane below `lanes` stores to its word, over and over; what it stores it has loaded before with LOADS: 1 from that
// word, 2 from a line that nobody stores to.  Blocks and lanes are `block` and `lane` words apart.
template <int LOADS>
__global__ void again(unsigned *data, unsigned block, unsigned lane, unsigned lanes, unsigned trips) {
  if (threadIdx.x % 32 >= lanes) return;
  unsigned *to = data + blockIdx.x * block + threadIdx.x % 32 * lane, *from = LOADS == 2 ? data + 8192 + threadIdx.x : to;
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
    if (LOADS) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
    ++x;
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory");
  }
}

// All threads store to, or with LOAD add to without an atomic, the word of their block, of which there are mask + 1.
template <bool LOAD> __global__ void summed(const float *data, float *sums, unsigned mask, unsigned apart) {
  float x = data[blockIdx.x * blockDim.x + threadIdx.x], *to = sums + (blockIdx.x & mask) * apart, y = 0;
  if (LOAD) asm volatile("ld.global.f32 %0, [%1];" : "=f"(y) : "l"(to) : "memory");
  asm volatile("st.global.f32 [%0], %1;" ::"l"(to), "f"(x + y) : "memory");
}

// Every N-th thread of a warp stores a word, or adds to it, then the next N-th.
template <int N, bool LOAD> __global__ void split(float *data) {
  float *mine = data + blockIdx.x * blockDim.x + threadIdx.x, x = 1;
#pragma unroll
  for (unsigned k = 0; k < N; ++k)
    if (threadIdx.x % N == k) {
      if (LOAD) asm volatile("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(mine) : "memory");
      asm volatile("st.global.f32 [%0], %1;" ::"l"(mine), "f"(x + k) : "memory");
    }
}

// Each warp stores to `lines` lines of its own in turn, with a chain of `gap` operations behind each store: 32 words of a
// line, one of each sector (which one changes), or one alone.
template <int PART> __global__ void turns(unsigned *data, unsigned lines, unsigned gap, unsigned trips) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, x = lane, line = 0, round = 0;
  if (lane >= (PART == 0 ? 32 : PART == 1 ? 4 : 1)) return;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
    unsigned word = PART == 0 ? lane : PART == 1 ? lane * 8 + round % 8 : round % 32;
    asm volatile("st.global.u32 [%0], %1;" ::"l"(data + (warp * lines + line) * 32 + word), "r"(x) : "memory");
    for (unsigned g = 0; g < gap; ++g) x = x * 3 + 1;
    if (++line == lines) line = 0, ++round;
  }
}

// Warps add to `lines` lines in turn, each lane to its word; lines are `apart` words apart.
template <class T> __global__ void columns(T *data, unsigned lines, unsigned apart, unsigned trips) {
  unsigned line = threadIdx.x / 32 % lines;
  for (unsigned k = 0; k < trips; ++k) {
    atomicAdd(&data[line * apart + threadIdx.x % 32], (T)1);
    line = (line + 8) % lines;
  }
}

// One lane of each warp adds to the word of its block, of which there are mask + 1.
template <class T> __global__ void words(T *data, unsigned mask, unsigned apart) {
  if (threadIdx.x % 32 == 0) atomicAdd(&data[(blockIdx.x & mask) * apart], (T)1);
}

// A matrix of n by n words, a thread a word; whole rows are read, or with ROWS written.
template <bool ROWS> __global__ void transposed(const float *from, float *to, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  if (ROWS) to[y * n + x] = from[x * n + y];
  else to[x * n + y] = from[y * n + x];
}

template <int LOADS> void repeated(unsigned *data) {
  for (unsigned blocks : {1, 8, 32, 132}) again<LOADS><<<blocks, 32>>>(data, 0, 1, 32, 512);
  for (unsigned blocks : {1, 132}) again<LOADS><<<blocks, 32>>>(data, 0, 1, 1, 512);
  again<LOADS><<<132, 32>>>(data, 1, 1, 1, 512);
  again<LOADS><<<132, 32>>>(data, 8, 1, 8, 512);
  again<LOADS><<<132, 32>>>(data, 32, 1, 32, 512);
  for (unsigned lane : {2, 8, 32}) again<LOADS><<<132, 32>>>(data, 0, lane, 32, 512);
  again<LOADS><<<132, 256>>>(data, 0, 1, 32, 512);
}

template <bool LOAD> void sums(const float *data, float *to) {
  for (unsigned mask : {0, 1, 3, 15, 63, 4095}) summed<LOAD><<<4096, 256>>>(data, to, mask, 32);
  for (unsigned mask : {31, 4095}) summed<LOAD><<<4096, 256>>>(data, to, mask, 1);
}

template <bool LOAD> void splits(float *data) {
  split<1, LOAD><<<4096, 256>>>(data);
  split<2, LOAD><<<4096, 256>>>(data);
  split<4, LOAD><<<4096, 256>>>(data);
  split<8, LOAD><<<4096, 256>>>(data);
  split<32, LOAD><<<4096, 256>>>(data);
}

template <int PART> void turned(unsigned *data) {
  for (unsigned gap : {0, 100})
    for (unsigned lines : {1, 2, 4, 8, 16, 32}) turns<PART><<<132, 32>>>(data, lines, gap, 256);
  for (unsigned lines : {1, 4, 16}) turns<PART><<<132, 256>>>(data, lines, 0, 256);
}

template <class T> void added(T *data) {
  for (unsigned lines : {1, 2, 4, 8, 16, 24, 48, 256}) columns<T><<<1024, 256>>>(data, lines, 32, 3);
  for (unsigned lines : {2, 8, 48}) columns<T><<<1024, 256>>>(data, lines, 1024, 3);
  for (unsigned mask : {0, 1, 3, 15, 31, 255, 1023}) words<T><<<1024, 1024>>>(data, mask, 1);
  for (unsigned mask : {15, 31, 1023}) words<T><<<1024, 1024>>>(data, mask, 32);
}

template <bool ROWS> void transposes(const float *from, float *to) {
  for (unsigned n : {1000, 1024, 2048})
    for (unsigned x : {32, 16, 8}) {
      dim3 block(x, 256 / x), grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
      transposed<ROWS><<<grid, block>>>(from, to, n);
    }
}

int main() {
  float *a = allocate<float>(1 << 23), *b = allocate<float>(1 << 23);
  repeated<0>((unsigned *)a);
  repeated<1>((unsigned *)a);
  repeated<2>((unsigned *)a);
  sums<false>(a, b);
  sums<true>(a, b);
  splits<false>(a);
  splits<true>(a);
  turned<0>((unsigned *)a);
  turned<1>((unsigned *)a);
  turned<2>((unsigned *)a);
  added<unsigned>((unsigned *)a);
  added<float>(a);
  transposes<false>(a, b);
  transposes<true>(a, b);
  finish();
  return 0;
}
