// Products of matrices by many blocks: how far the blocks of an SM are while others wait, and what a load of a 64-bit
// address takes of the arithmetic beside it.  Prints one JSON object of figures.
#include "common.cuh"

constexpr int STEP = 16;  // terms of each sum between two notes

// The product of two matrices of n rows; rows of `a` and of `b` lie *lda* and *ldb* apart.  The first warp of each block
// writes the number of its SM and the cycle of each step, and of the end.
template <class T, class I> __global__ void stepped(const T *a, const T *b, T *c, unsigned *notes, I n, I lda, I ldb) {
  I row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned *own = notes + (blockIdx.y * gridDim.x + blockIdx.x) * (n / STEP + 2);
  bool writes = threadIdx.x == 0 && threadIdx.y == 0;
  if (writes) *own++ = own_sm();
  T sum = 0;
#pragma unroll 1
  for (I i = 0; i < n; i += STEP) {
    if (writes) *own++ = now();
#pragma unroll
    for (I j = 0; j < STEP; ++j) sum += a[row * lda + i + j] * b[(i + j) * ldb + column];
  }
  c[row * n + column] = sum;
  if (writes) *own = now();
}

enum { NOTHING, LOAD, PAIR, SHARED, SHARED_STORE };
enum { PERMUTED, FUSED, WIDE };
constexpr int N = 16;  // accesses a trip

template <int OP> __device__ __forceinline__ void work(unsigned (&s)[8], unsigned long long (&w)[4], unsigned k, unsigned by) {
  if (OP == PERMUTED) asm volatile("prmt.b32 %0, %0, %1, 0x2143;" : "+r"(s[k % 8]) : "r"(by));
  if (OP == FUSED)
    asm volatile("{.reg .f32 x, y; mov.b32 x, %0; mov.b32 y, %1; fma.rn.f32 x, x, y, y; mov.b32 %0, x;}" : "+r"(s[k % 8]) : "r"(by));
  if (OP == WIDE) {
    w[k % 4] += (long long)int(by) * 4;
    asm volatile("" : "+l"(w[k % 4]));  // one multiplication each
  }
}

// N accesses of memory that L1 has, and M instructions for each of them.
template <int WHAT, int OP, int M>
__global__ __launch_bounds__(1024) void beside(long long *cycles, unsigned *sink, unsigned *data, unsigned by, int trips) {
  __shared__ unsigned array[1024 + 32 * N];
  unsigned lane = threadIdx.x % 32, sum = 0, s[8], v[N], second[N];
  unsigned long long w[4];
  by += data[lane];  // nobody knows that it is 0
  for (unsigned k = 0; k < 8; ++k) s[k] = data[lane + k];
  for (unsigned k = 0; k < 4; ++k) w[k] = data[lane + k + 8];
  for (unsigned i = threadIdx.x; i < 1024 + 32 * N; i += blockDim.x) array[i] = 0;
  unsigned *at = data + lane * (WHAT == PAIR ? 2 : 1);
  unsigned shared = (unsigned)__cvta_generic_to_shared(array + lane);
  long long start = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < (pass ? trips : 2); ++i) {
#pragma unroll
      for (int k = 0; k < N; ++k) {
        if (WHAT == LOAD) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(at + 32 * k));
        if (WHAT == PAIR) asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v[k]), "=r"(second[k]) : "l"(at + 64 * k));
        if (WHAT == SHARED) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(shared + 128 * k));
        if (WHAT == SHARED_STORE) asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared + 128 * k), "r"(by));
#pragma unroll
        for (int m = 0; m < M; ++m) work<OP>(s, w, k * M + m, by);
      }
      if (WHAT == LOAD || WHAT == PAIR || WHAT == SHARED)
#pragma unroll
        for (int k = 0; k < N; ++k) sum ^= v[k];
      at += by;
      shared += by;
    }
    __syncthreads();
    start = clock64() - start;
  }
  for (unsigned k : s) sum += k;
  for (unsigned long long k : w) sum += unsigned(k) + unsigned(k >> 32);
  if (sum == 0x12345) sink[threadIdx.x] = sum;
  if (threadIdx.x == 0) cycles[blockIdx.x] = start;
}

unsigned *d_data;

// Cycles of a scheduler for an access and what is beside it.
template <int WHAT, int OP, int M> void measure(const char *what, const char *op) {
  for (int threads : {512, 1024}) {
    auto launch = [&](int trips) { beside<WHAT, OP, M><<<1, threads>>>(d_cycles, d_sink, d_data, 0, trips); };
    report(slope(launch, 10, 42) / (32 * N) / (threads / 128), "%s.%s%d.warps%d", what, op, M, threads / 32);
  }
}

template <int WHAT> void each(const char *what) {
  measure<WHAT, PERMUTED, 2>(what, "permuted");
  measure<WHAT, PERMUTED, 4>(what, "permuted");
  measure<WHAT, FUSED, 4>(what, "fused");
  measure<WHAT, FUSED, 8>(what, "fused");
  measure<WHAT, WIDE, 1>(what, "wide");
  measure<WHAT, WIDE, 2>(what, "wide");
  measure<WHAT, WIDE, 3>(what, "wide");
}

// Cycles until the first, second, ... block of an SM is half through and through, since the first of its SM began: the
// mean of the SMs that got the most blocks.
template <class T, class I> void steps(const char *name, void *a, void *b, void *c, unsigned *notes, int n, int width, int height, int lda, int ldb) {
  dim3 block(width, height), grid(n / width, n / height);
  unsigned blocks = grid.x * grid.y, words = n / STEP + 2;
  static char *large = allocate<char>(1 << 28);
  CHECK(cudaMemset(large, 0, 1 << 28));  // L2 has nothing else
  finish();
  stepped<T, I><<<grid, block>>>((T *)a, (T *)b, (T *)c, notes, n, lda, ldb);
  std::vector<unsigned> t = download(notes, blocks * words);
  std::vector<std::vector<const unsigned *>> of(256);
  for (unsigned k = 0; k < blocks; ++k) of[t[k * words]].push_back(&t[k * words]);
  size_t most = 0;
  for (auto &list : of) most = std::max(most, list.size());
  for (size_t k = 0; k < most; ++k) {
    double half = 0, end = 0, count = 0;
    for (auto &list : of) {
      if (list.size() < most) continue;
      unsigned first = list[0][1];
      for (auto *block : list) first = int(block[1] - first) < 0 ? block[1] : first;
      half += list[k][1 + n / STEP / 2] - first;
      end += list[k][1 + n / STEP] - first;
      ++count;
    }
    report(half / count, "%s.n%d.%dx%d.lda%d.ldb%d.block%d.half", name, n, width, height, lda, ldb, int(k));
    report(end / count, "%s.n%d.%dx%d.lda%d.ldb%d.block%d.end", name, n, width, height, lda, ldb, int(k));
  }
}

int main() {
  start_clocked();
  d_data = allocate<unsigned>(1 << 12);
  each<NOTHING>("nothing");
  each<LOAD>("load");
  each<PAIR>("pair");
  each<SHARED>("shared");
  each<SHARED_STORE>("shared_store");
  void *a = allocate<float>(1 << 20), *b = allocate<float>(1 << 20), *c = allocate<float>(1 << 20);
  unsigned *notes = allocate<unsigned>(1 << 22);
  for (int n : {256, 512, 1024}) {
    steps<float, unsigned>("float.unsigned", a, b, c, notes, n, 16, 16, n, n);
    steps<float, int>("float.int", a, b, c, notes, n, 16, 16, n, n);
    steps<float, int>("float.int", a, b, c, notes, n, 32, 32, n, n);
    steps<float, int>("float.int", a, b, c, notes, n, 32, 8, n, n);
  }
  for (int side : {16, 32})
    for (int lda : {0, 512}) steps<float, int>("float.int", a, b, c, notes, 512, side, side, lda, 512 - lda);
  for (int side : {16, 32}) steps<float, int>("float.int", a, b, c, notes, 512, side, side, 0, 0);
  end_report();
  return 0;
}
