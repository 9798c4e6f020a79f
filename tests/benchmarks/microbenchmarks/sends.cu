// What loads of a 64-bit address take of a scheduler if there is less beside them than would keep it busy, and of an SM in
// products of matrices.  Prints one JSON object of figures.
#include "common.cuh"

enum { NOTHING, FUSED, IMAD, WIDE, ADD3, PERMUTED, LOGIC, MOVED, SHIFTED, CONSTANT };
constexpr int N = 16;  // loads a trip

__constant__ unsigned table[64];

template <int OP> __device__ __forceinline__ void work(unsigned (&s)[8], unsigned long long (&w)[4], unsigned k, unsigned by, unsigned to) {
  unsigned &x = s[k % 8];
  if (OP == FUSED) asm volatile("{.reg .f32 x, y, z; mov.b32 x, %0; mov.b32 y, %1; mov.b32 z, %2; fma.rn.f32 x, x, y, z; mov.b32 %0, x;}" : "+r"(x) : "r"(by), "r"(to));
  if (OP == IMAD) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(by), "r"(to));
  if (OP == WIDE) { w[k % 4] += (long long)int(by) * 4; asm volatile("" : "+l"(w[k % 4])); }
  if (OP == ADD3) asm volatile("{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}" : "+r"(x) : "r"(by), "r"(to));
  if (OP == PERMUTED) asm volatile("prmt.b32 %0, %0, %1, 0x2143;" : "+r"(x) : "r"(by));
  if (OP == LOGIC) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x) : "r"(by), "r"(to));
  if (OP == MOVED) asm volatile("not.b32 %0, %0;" : "+r"(x));
  if (OP == SHIFTED) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(by), "r"(to));
  if (OP == CONSTANT) x ^= *(volatile const unsigned *)&table[by + k % 4];
}

// N loads a trip, and M instructions behind each PER of them.
template <int OP, int PER, int M>
__global__ __launch_bounds__(1024) void between(long long *cycles, unsigned *sink, unsigned *data, unsigned by, int trips) {
  unsigned lane = threadIdx.x % 32, sum = 0, s[8], v[N];
  unsigned long long w[4];
  by += data[lane];
  unsigned to = data[lane + 1] + by;
  for (unsigned k = 0; k < 8; ++k) s[k] = data[lane + k];
  for (unsigned k = 0; k < 4; ++k) w[k] = data[lane + k + 8];
  unsigned *at = data + lane;
  long long start = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < (pass ? trips : 2); ++i) {
#pragma unroll
      for (int k = 0; k < N; ++k) {
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(at + 32 * k));
        if (k % PER == PER - 1)
#pragma unroll
          for (int m = 0; m < M; ++m) work<OP>(s, w, k / PER * M + m, by, to);
      }
#pragma unroll
      for (int k = 0; k < N; ++k) sum ^= v[k];
      at += by;
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

template <int OP, int PER, int M> void measure(const char *op) {
  for (int threads : {512, 1024}) {
    auto launch = [&](int trips) { between<OP, PER, M><<<1, threads>>>(d_cycles, d_sink, d_data, 0, trips); };
    report(slope(launch, 8, 40) / (32 * N) / (threads / 128), "between.%s%d.each%d.warps%d", op, M, PER, threads / 32);
  }
}

template <int OP> void each(const char *op) {
  measure<OP, 2, 1>(op);
  measure<OP, 2, 2>(op);
  measure<OP, 1, 1>(op);
  measure<OP, 4, 1>(op);
}

// A product of matrices of 1024 columns, whose addresses need no multiplications: 16 terms a trip.
template <class T>
__global__ __launch_bounds__(1024) void rows(unsigned *notes, T *c, const T *a, const T *b, int trips) {
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, begin = now();
  long long p = (blockIdx.x / 32 * 32 + warp) * 4096, q = lane * 4 + blockIdx.x % 32 * 128;
  T sum = 0;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    const T *row = (const T *)((const char *)a + p), *column = (const T *)((const char *)b + q);
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += row[k] * column[k * 1024];
    p += 64;
    q += 65536;
    asm volatile("" : "+l"(p), "+l"(q));
  }
  c[blockIdx.x * 1024 + threadIdx.x] = sum;
  if (lane == 0) {
    unsigned *own = notes + (blockIdx.x * 32 + warp) * 3;
    own[0] = own_sm(), own[1] = begin, own[2] = now();
  }
}

// Cycles of an SM for each load, by so many blocks: the mean of the SMs that got the most of them.
template <class T> void product(const char *name, unsigned *notes, void *a, void *b, void *c, int blocks) {
  for (int round = 0; round < 2; ++round) rows<T><<<blocks, 1024>>>(notes, (T *)c, (const T *)a, (const T *)b, 64), finish();
  auto t = download(notes, size_t(blocks) * 32 * 3);
  std::vector<unsigned> first(256), last(256), warps(256);
  for (int w = 0; w < blocks * 32; ++w) {
    unsigned sm = t[w * 3], from = t[w * 3 + 1], to = t[w * 3 + 2];
    if (!warps[sm]++) first[sm] = from, last[sm] = to;
    if (int(from - first[sm]) < 0) first[sm] = from;
    if (int(to - last[sm]) > 0) last[sm] = to;
  }
  double sum = 0, sms = 0;
  unsigned most = *std::max_element(warps.begin(), warps.end());
  for (int sm = 0; sm < 256; ++sm)
    if (warps[sm] == most) sum += double(last[sm] - first[sm]) / (double(warps[sm]) * 64 * 32), ++sms;
  report(sum / sms, "rows.%s.blocks%d", name, blocks);
}

int main() {
  start_clocked();
  d_data = allocate<unsigned>(1 << 12);
  measure<NOTHING, 2, 1>("nothing");
  each<FUSED>("fused");
  each<IMAD>("imad");
  each<WIDE>("wide");
  each<ADD3>("add3");
  each<PERMUTED>("permuted");
  each<LOGIC>("logic");
  each<MOVED>("moved");
  each<SHIFTED>("shifted");
  measure<CONSTANT, 16, 1>("constant");
  measure<CONSTANT, 4, 1>("constant");
  void *a = allocate<float>(1 << 21), *b = allocate<float>(1 << 21), *c = allocate<float>(1 << 21);
  unsigned *notes = allocate<unsigned>(1 << 20);
  for (int blocks : {132, 264, 1024}) {
    product<float>("float", notes, a, b, c, blocks);
    product<int>("int", notes, a, b, c, blocks);
  }
  end_report();
}
