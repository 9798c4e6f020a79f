// Rows of a thread each: loads that are ahead of the stores to the same row, and sums that are stored at each step; by
// Nsight Compute.
#include "common.cuh"

enum { NONE, CACHED, BYPASS };

template <int LOAD> __device__ __forceinline__ unsigned load(const unsigned *from) {
  unsigned x = 0;
  if (LOAD == CACHED) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
  if (LOAD == BYPASS) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
  return x;
}

template <int LOAD> __device__ __forceinline__ unsigned long long load(const unsigned long long *from) {
  unsigned long long x = 0;
  if (LOAD == CACHED) asm volatile("ld.global.u64 %0, [%1];" : "=l"(x) : "l"(from) : "memory");
  if (LOAD == BYPASS) asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(x) : "l"(from) : "memory");
  return x;
}

__device__ __forceinline__ void store(unsigned *to, unsigned x) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory");
}

__device__ __forceinline__ void store(unsigned long long *to, unsigned long long x) {
  asm volatile("st.global.u64 [%0], %1;" ::"l"(to), "l"(x) : "memory");
}

// Each thread goes along its row: it loads a word, LEAD words ahead, and with STORE stores the oldest that it has, `shift`
// words from where that came from.
template <class T, int LOAD, int LEAD, int STORE>
__global__ void ahead(T *data, size_t pitch, unsigned words, long long shift) {
  T *row = data + (blockIdx.x * blockDim.x + threadIdx.x) * pitch, x[LEAD + 1], sum = 0;
#pragma unroll
  for (int k = 0; k < LEAD; ++k) x[k] = load<LOAD>(row + k);
#pragma unroll 1
  for (unsigned i = 0; i < words; i += 8)
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      x[LEAD] = load<LOAD>(row + i + k + LEAD);
      if (STORE) store(row + i + k + shift, x[0] + k);
      else sum += x[0];
#pragma unroll
      for (int j = 0; j < LEAD; ++j) x[j] = x[j + 1];
    }
  if (!STORE && sum == 77) *row = sum;
}

// One lane, on a line of its own at each step: whether L1 still has words of it after loads and stores in some order.
enum {
  PLAIN,       // loads of words 0, 1, 2, each awaited
  BEFORE,      // a store to word 1, then those
  BETWEEN,     // word 0, awaited, a store to word 1, words 1, 2
  UNDER_WAY,   // word 0, meanwhile a store to word 1, words 1, 2
  UNDER_OTHER, // word 0, meanwhile a store to word 1, words 2, 3
  UNDER_SAME,  // word 0, meanwhile a store to it, words 0, 1
  UNDER_LATE,  // word 0, meanwhile a store to word 1 and a load of word 2, words 2, 3
  OTHER,       // word 0, meanwhile a store to word 8 (another sector), words 1, 2
  OTHER_BACK,  // word 0, meanwhile a store to word 8, words 8, 9
  BOTH,        // words 0 and 8, meanwhile a store to word 1, words 2, 9
  AGAIN,       // as UNDER_OTHER, then words 4, 5
  TWICE,       // as UNDER_OTHER, then a store to word 1, words 4, 5
  HIT,         // word 0, awaited, word 4, which hits, meanwhile a store to word 1, words 2, 3
  HIT_SAME,    // the same with the store to word 4, words 4, 3
  HIT_OTHER,   // word 0, awaited, word 8, which misses, meanwhile a store to word 1, words 2, 3
  CASES
};

template <int CASE> __global__ void line(unsigned *data, unsigned steps) {
  unsigned x = 0;
#pragma unroll 1
  for (unsigned k = 0; k < steps; ++k) {
    unsigned *at = data + k * 32 + (x & 1024);  // x is small: what comes next waits for it
    if (CASE == BEFORE) store(at + 1, x);
    unsigned y = load<CACHED>(at);
    if (CASE <= BETWEEN || CASE >= HIT) at += y & 1024;
    if (CASE == PLAIN || CASE == BEFORE) x = load<CACHED>(at + 1), x = load<CACHED>(at + 2 + (x & 1024));
    if (CASE == BETWEEN) store(at + 1, y), x = load<CACHED>(at + 1), x = load<CACHED>(at + 2 + (x & 1024));
    if (CASE <= BETWEEN) continue;
    unsigned first = 1, second = 2;
    if (CASE == UNDER_OTHER || CASE == UNDER_LATE || CASE == AGAIN || CASE >= TWICE) first = 2, second = 3;
    if (CASE == UNDER_SAME) first = 0, second = 1;
    if (CASE == OTHER_BACK) first = 8, second = 9;
    if (CASE == BOTH) first = 2, second = 9;
    if (CASE == HIT_SAME) first = 4;
    unsigned z = 0;
    if (CASE == BOTH || CASE == HIT_OTHER) z = load<CACHED>(at + 8);
    if (CASE == HIT || CASE == HIT_SAME) z = load<CACHED>(at + 4);
    store(at + (CASE == UNDER_SAME ? 0 : CASE == OTHER || CASE == OTHER_BACK ? 8 : CASE == HIT_SAME ? 4 : 1), steps);
    if (CASE == UNDER_LATE) z = load<CACHED>(at + 2);
    at += (y | z) & 1024;
    x = load<CACHED>(at + first);
    x = load<CACHED>(at + second + (x & 1024));
    if (CASE == AGAIN || CASE == TWICE) {
      if (CASE == TWICE) store(at + 1 + (x & 1024), k & 7);
      x = load<CACHED>(at + 4 + (x & 1024));
      x = load<CACHED>(at + 5 + (x & 1024));
    }
  }
  if (x == 77) *data = x;
}

// `share` threads of a block have a row and a word together; blocks `columns` apart have the same.  Each thread adds the
// row up and stores the sum so far to the word at each step.  Without LOAD it stores only.
template <int LOAD> __global__ void sums(const unsigned *from, unsigned *to, unsigned share, unsigned columns, unsigned words) {
  unsigned number = (blockIdx.x % columns * blockDim.x + threadIdx.x) / share, sum = threadIdx.x;
  const unsigned *row = from + number % 4096 * 128;
#pragma unroll 4
  for (unsigned k = 0; k < words; ++k) {
    sum += LOAD ? load<CACHED>(row + k) : 1;
    store(to + number, sum);
  }
}

// The mean of each row of a matrix by every thread of the row, the blocks of a grid of two dimensions.
__global__ void means(const float *from, float *to, unsigned rows, unsigned columns) {
  unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  to[row] = 0;
  for (unsigned k = 0; k < columns; ++k) to[row] += from[row * columns + k];
  to[row] /= columns;
}

// Each warp over and over: LOADS loads past L1 of its word and, when they are there, STORES stores to it; its first `lanes`
// lanes have words side by side.  There are `count` words, `apart` words apart.
template <int LOADS, int STORES>
__global__ void reread(unsigned *data, unsigned count, unsigned apart, unsigned lanes, unsigned trips) {
  if (threadIdx.x % 32 >= lanes) return;
  unsigned *at = data + (blockIdx.x * blockDim.x + threadIdx.x) / 32 % count * apart + threadIdx.x % 32, x = 0;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) {
#pragma unroll
    for (int j = 0; j < LOADS; ++j) x += load<BYPASS>(at);
#pragma unroll
    for (int j = 0; j < STORES; ++j) store(at, x + j);
  }
  if (!STORES && x == 77) *at = x;
}

template <class T, int LOAD, int LEAD, int STORE>
void row(void *data, unsigned blocks, unsigned threads, size_t bytes, unsigned words, long long shift = 0) {
  ahead<T, LOAD, LEAD, STORE><<<blocks, threads>>>((T *)data, bytes / sizeof(T), words, shift);
}

template <int CASE> void lines(unsigned *data) {
  line<CASE><<<1, 1>>>(data, 64);
  if constexpr (CASE + 1 < CASES) lines<CASE + 1>(data);
}

template <int LOADS, int STORES> void turn(unsigned *data) {
  struct Place {
    unsigned count, apart, lanes;
  };
  for (Place p : {Place{1, 1, 1}, {8, 8, 1}, {32, 32, 1}, {1056, 32, 1}, {1056, 1024, 1}, {1056, 32, 32}})
    reread<LOADS, STORES><<<132, 256>>>(data, p.count, p.apart, p.lanes, 32);
}

struct Shape {
  unsigned blocks, threads;
};

int main() {
  using u32 = unsigned;
  using u64 = unsigned long long;
  unsigned *data = allocate<unsigned>((1 << 28) + (1 << 16)), *to = allocate<unsigned>(1 << 19);
  lines<0>(data);
  for (size_t pitch : {4224, 65536})
    for (Shape s : {Shape{1, 32}, {1, 256}, {32, 256}}) {
      row<u32, CACHED, 0, 1>(data, s.blocks, s.threads, pitch, 64);
      row<u32, CACHED, 1, 1>(data, s.blocks, s.threads, pitch, 64);
      row<u32, CACHED, 3, 1>(data, s.blocks, s.threads, pitch, 64);
    }
  for (size_t pitch : {4224, 65536}) {
    row<u32, CACHED, 0, 0>(data, 32, 256, pitch, 64);
    row<u32, BYPASS, 0, 0>(data, 32, 256, pitch, 64);
    row<u32, BYPASS, 0, 1>(data, 32, 256, pitch, 64);
    row<u32, BYPASS, 1, 1>(data, 32, 256, pitch, 64);
    row<u32, NONE, 0, 1>(data, 32, 256, pitch, 64);
    for (long long shift : {1ll, 8ll, 16ll, 32ll, 1024ll - 32}) row<u32, CACHED, 1, 1>(data, 32, 256, pitch, 64, shift);
    row<u32, CACHED, 0, 1>(data, 32, 256, pitch, 64, 1024 - 32);
    row<u64, CACHED, 0, 1>(data, 32, 256, pitch, 32);
    row<u64, CACHED, 1, 1>(data, 32, 256, pitch, 32);
  }
  for (size_t pitch : {256, 1024, 4096, 8192, 16384, 32768, 65536 + 128}) row<u32, CACHED, 1, 1>(data, 32, 256, pitch, 64);
  for (unsigned blocks : {2, 4, 8, 16, 62}) row<u32, CACHED, 1, 1>(data, blocks, 256, 65536, 64);
  for (Shape s : {Shape{132, 64}, {132, 256}, {132, 1024}, {528, 256}}) {
    row<u32, CACHED, 0, 1>(data, s.blocks, s.threads, 4224, 64);
    row<u32, CACHED, 1, 1>(data, s.blocks, s.threads, 4224, 64);
  }
  for (unsigned blocks : {1, 32, 132, 1024})
    for (unsigned share : {1, 16, 32, 256})
      for (unsigned columns : {1u, blocks}) {
        sums<1><<<blocks, 256>>>(data, to, share, columns, 96);
        if (share != 16 && blocks != 32) sums<0><<<blocks, 256>>>(data, to, share, columns, 96);
        if (blocks == 1) break;
      }
  sums<1><<<1024, 256>>>(data, to, 16, 32, 96);
  sums<1><<<1024, 256>>>(data, to, 256, 32, 96);
  for (unsigned width : {32, 8, 1}) {
    unsigned columns = std::max(16 * width, 128u);
    means<<<dim3(width, 32), dim3(16, 16)>>>((float *)data, (float *)to, 512, columns);
  }
  turn<1, 0>(data);
  turn<0, 1>(data);
  turn<1, 1>(data);
  turn<2, 1>(data);
  turn<4, 1>(data);
  finish();
  return 0;
}
