// Latencies and throughputs of one SM, read with clock64() inside the kernels.  Prints one JSON object.
//
// A figure is the difference of two runs that differ only in the number of unrolled operations, so that the
// loop, the clock reads and the first instruction fetches cancel out.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#define CHECK(call)                                                                                      \
  do {                                                                                                   \
    cudaError_t status = (call);                                                                         \
    if (status != cudaSuccess) {                                                                         \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                      \
      exit(1);                                                                                           \
    }                                                                                                    \
  } while (0)

constexpr int TRIPS = 32;
__constant__ unsigned chase_constant[256];

struct Iadd {  // the barrier keeps the compiler from folding a chain of additions
  static __device__ void step(unsigned &x, unsigned y, unsigned z) {
    x = x + y + z;
    asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(y));
  }
};
struct Imad { static __device__ void step(unsigned &x, unsigned y, unsigned z) { x = x * y + z; } };
struct Select {  // ISETP and SEL: two operations
  static __device__ void step(unsigned &x, unsigned y, unsigned z) { x = x < y ? z : x * 1u + y; }
};
struct ImadHi { static __device__ void step(unsigned &x, unsigned y, unsigned z) { x = __umulhi(x, y) + z; } };
struct Guarded {  // ISETP and a guarded instruction that has to wait for it
  static __device__ void step(unsigned &x, unsigned, unsigned) {
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 123456789; @p trap; add.u32 %0, %0, 1; }" : "+r"(x));
  }
};
struct GuardedSpecial {  // the same, after an S2R that it needs
  static __device__ void step(unsigned &x, unsigned, unsigned) {
    asm volatile("{ .reg .pred p; .reg .u32 v; mov.u32 v, %%smid; setp.eq.u32 p, v, 123456789; @p trap; add.u32 %0, %0, 1; }" : "+r"(x));
  }
};
struct Shf { static __device__ void step(unsigned &x, unsigned y, unsigned z) { x = __funnelshift_l(x, y, z); } };
struct Popc { static __device__ void step(unsigned &x, unsigned, unsigned) { x = __popc(x); } };
struct Shuffle { static __device__ void step(unsigned &x, unsigned, unsigned) { x = __shfl_xor_sync(~0u, x, 1); } };
struct Redux { static __device__ void step(unsigned &x, unsigned, unsigned) { x = __reduce_add_sync(~0u, x); } };
struct Vote { static __device__ void step(unsigned &x, unsigned y, unsigned) { x = __ballot_sync(~0u, x > y); } };
struct Fadd {
  static __device__ void step(unsigned &x, unsigned y, unsigned) {
    x = __float_as_uint(__fadd_rn(__uint_as_float(x), __uint_as_float(y)));
  }
};
struct Ffma {
  static __device__ void step(unsigned &x, unsigned y, unsigned z) {
    x = __float_as_uint(__fmaf_rn(__uint_as_float(x), __uint_as_float(y), __uint_as_float(z)));
  }
};
struct Mufu {
  static __device__ void step(unsigned &x, unsigned, unsigned) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+r"(x)); }
};
struct Convert {  // I2F and F2I: two operations
  static __device__ void step(unsigned &x, unsigned, unsigned) { x = __float2int_rn(__int2float_rn(x)); }
};

template <class Op, int UNROLL> __global__ void chain(long long *cycles, unsigned *sink, unsigned y, unsigned z) {
  unsigned x = threadIdx.x + y;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) Op::step(x, y, z);
    }
    start = clock64() - start;
  }
  cycles[blockIdx.x] = start;
  sink[threadIdx.x] = x;
}

template <class Op, int UNROLL> __global__ void streams(long long *cycles, unsigned *sink, unsigned y, unsigned z) {
  unsigned x[4] = {threadIdx.x + y, threadIdx.x + z, threadIdx.x ^ y, threadIdx.x ^ z};
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) {
        Op::step(x[0], y, z);
        Op::step(x[1], y, z);
        Op::step(x[2], y, z);
        Op::step(x[3], y, z);
      }
    }
    __syncthreads();
    start = clock64() - start;
  }
  cycles[blockIdx.x] = start;
  sink[threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}

template <int UNROLL, bool FMA> __global__ void chain_f64(long long *cycles, double *sink, double y, double z) {
  double x = threadIdx.x + y;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) x = FMA ? __fma_rn(x, y, z) : __dadd_rn(x, y);
    }
    __syncthreads();
    start = clock64() - start;
  }
  cycles[blockIdx.x] = start;
  sink[threadIdx.x] = x;
}

template <int UNROLL> __global__ void chain_wide(long long *cycles, unsigned long long *sink, unsigned y, int) {
  unsigned long long x = threadIdx.x + y;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) x = (unsigned long long)(unsigned)x * y + x;
    }
    __syncthreads();
    start = clock64() - start;
  }
  cycles[blockIdx.x] = start;
  sink[threadIdx.x] = x;
}

template <int UNROLL> __global__ void chase_shared(long long *cycles, unsigned *sink, unsigned stride) {
  __shared__ unsigned next[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) next[i] = i * 4;  // each word holds its own byte offset
  __syncthreads();
  unsigned at = (threadIdx.x % 32 * stride % 8192) * 4;
  const char *base = reinterpret_cast<const char *>(next);
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) at = *reinterpret_cast<const volatile unsigned *>(base + at);
  }
  __syncthreads();
  cycles[blockIdx.x] = clock64() - start;
  sink[threadIdx.x] = at;
}

template <int UNROLL> __global__ void chase_const(long long *cycles, unsigned *sink) {
  unsigned at = threadIdx.x % 32 * 0;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) at = chase_constant[at];
    }
    start = clock64() - start;
  }
  cycles[blockIdx.x] = start;
  sink[threadIdx.x] = at;
}

// Each lane follows next[] on its own, through L1.
template <int UNROLL> __global__ void chase_global(long long *cycles, unsigned *sink, const unsigned *next, unsigned stride, int trips) {
  unsigned at = threadIdx.x % 32 * stride;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    at = threadIdx.x % 32 * stride;
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) {
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(next + at));
      }
    }
    __syncthreads();
    start = clock64() - start;
  }
  cycles[blockIdx.x] = start;
  sink[threadIdx.x] = at;
}

// One cold pass through a chain: each load misses all caches.
__global__ void chase_dram(long long *cycles, unsigned *sink, const unsigned *next, unsigned first, int loads) {
  unsigned at = first;
  long long start = clock64();
  for (int i = 0; i < loads; ++i) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(next + at));
  cycles[blockIdx.x] = clock64() - start;
  sink[threadIdx.x] = at;
}

template <int UNROLL> __global__ void barriers(long long *cycles) {
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) __syncthreads();
    }
    start = clock64() - start;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = start;
}

template <int UNROLL> __global__ void atomics_shared(long long *cycles, unsigned *sink, unsigned stride) {
  __shared__ unsigned data[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) data[i] = i;
  __syncthreads();
  unsigned at = threadIdx.x % 32 * stride;
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) at = stride ? atomicMax(&data[at], 0u) : atomicAdd(&data[at], 0u);
  }
  cycles[blockIdx.x] = clock64() - start;
  sink[threadIdx.x] = at;
}

template <int UNROLL> __global__ void atomics_global(long long *cycles, unsigned *sink, unsigned *data, unsigned stride) {
  unsigned at = threadIdx.x % 32 * stride;
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) at = atomicMax(&data[at], 0u);
  }
  cycles[blockIdx.x] = clock64() - start;
  sink[threadIdx.x] = at;
}

// A loop whose body is an if/else that stays a branch; with lanes > 0 the warp diverges in each trip.
__global__ void diverge(long long *cycles, unsigned *sink, unsigned lanes, int trips) {
  unsigned x = threadIdx.x;
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    if (threadIdx.x < lanes) asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 77; @p add.u32 %0, %0, 3; @p bra L%=; mov.u32 %0, 5; L%=: }" : "+r"(x));
    else asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 78; @p add.u32 %0, %0, 7; @p bra L%=; mov.u32 %0, 9; L%=: }" : "+r"(x));
    __syncwarp();
  }
  cycles[blockIdx.x] = clock64() - start;
  sink[threadIdx.x] = x;
}

// Bandwidth: every thread reads LOADS words per trip, consecutive warps consecutive lines; bytes over cycles and time.
template <int LOADS, bool L1> __global__ void read_all(const unsigned *data, unsigned *sink, unsigned words, int trips) {
  unsigned sum = 0;
  unsigned threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < trips; ++i) {
    unsigned v[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
      unsigned at = (i * LOADS + k) * threads + me;
      at &= words - 1;
      if (L1) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[k]) : "l"(data + at));
      else asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(data + at));
    }
#pragma unroll
    for (int k = 0; k < LOADS; ++k) sum += v[k];
  }
  if (sum == 0x12345) sink[0] = sum;
}

template <int STORES> __global__ void write_all(unsigned *data, unsigned words, int trips) {
  unsigned threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < STORES; ++k) data[((i * STORES + k) * threads + me) & (words - 1)] = me;
  }
}

long long *d_cycles;
unsigned *d_sink;
bool first_entry = true;

double read_cycles(int blocks = 1) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<long long> c(blocks);
  CHECK(cudaMemcpy(c.data(), d_cycles, blocks * sizeof(long long), cudaMemcpyDeviceToHost));
  std::sort(c.begin(), c.end());
  return double(c[blocks / 2]);
}

void report(const char *name, double value) {
  printf("%s  \"%s\": %.4f", first_entry ? "" : ",\n", name, value);
  first_entry = false;
}

template <class Op> void measure(const char *name) {
  char label[80];
  double few, many;
  for (int r = 0; r < 2; ++r) {
    chain<Op, 16><<<1, 32>>>(d_cycles, d_sink, 3, 5);
    few = read_cycles();
    chain<Op, 80><<<1, 32>>>(d_cycles, d_sink, 3, 5);
    many = read_cycles();
  }
  snprintf(label, sizeof label, "%s.latency", name);
  report(label, (many - few) / (64.0 * TRIPS));
  for (int r = 0; r < 2; ++r) {
    streams<Op, 4><<<1, 1024>>>(d_cycles, d_sink, 3, 5);
    few = read_cycles();
    streams<Op, 20><<<1, 1024>>>(d_cycles, d_sink, 3, 5);
    many = read_cycles();
  }
  snprintf(label, sizeof label, "%s.cycles_per_warp_per_scheduler", name);
  report(label, (many - few) / (16.0 * 4 * TRIPS * 8));
}

template <bool FMA> void measure_f64(const char *name) {
  char label[80];
  for (int threads : {32, 1024}) {
    double few, many;
    for (int r = 0; r < 2; ++r) {
      chain_f64<16, FMA><<<1, threads>>>(d_cycles, (double *)d_sink, 1.5, 2.5);
      few = read_cycles();
      chain_f64<80, FMA><<<1, threads>>>(d_cycles, (double *)d_sink, 1.5, 2.5);
      many = read_cycles();
    }
    snprintf(label, sizeof label, threads == 32 ? "%s.latency" : "%s.cycles_per_warp_per_scheduler", name);
    report(label, (many - few) / (64.0 * TRIPS * (threads == 32 ? 1 : 8)));
  }
}

int main() {
  CHECK(cudaMalloc(&d_cycles, 4096 * sizeof(long long)));
  CHECK(cudaMalloc(&d_sink, 1 << 20));
  unsigned zeros[256] = {};
  CHECK(cudaMemcpyToSymbol(chase_constant, zeros, sizeof zeros));
  printf("{\n");
  measure<Iadd>("iadd3_lop3");
  measure<Imad>("imad");
  measure<Select>("isetp_sel");
  measure<ImadHi>("imad_hi");
  measure<Guarded>("guarded");
  measure<GuardedSpecial>("guarded_s2r");
  measure<Shf>("shf");
  measure<Fadd>("fadd");
  measure<Ffma>("ffma");
  measure<Mufu>("mufu");
  measure<Convert>("i2f_f2i");
  measure<Popc>("popc");
  measure<Shuffle>("shfl");
  measure<Redux>("redux");
  measure<Vote>("isetp_vote");
  measure_f64<false>("dadd");
  measure_f64<true>("dfma");
  char label[96];
  double few, many;
  for (int threads : {32, 1024}) {
    for (int r = 0; r < 2; ++r) {
      chain_wide<16><<<1, threads>>>(d_cycles, (unsigned long long *)d_sink, 3, 0);
      few = read_cycles();
      chain_wide<80><<<1, threads>>>(d_cycles, (unsigned long long *)d_sink, 3, 0);
      many = read_cycles();
    }
    report(threads == 32 ? "imad_wide.latency" : "imad_wide.cycles_per_warp_per_scheduler",
           (many - few) / (64.0 * TRIPS * (threads == 32 ? 1 : 8)));
  }
  for (int threads : {32, 1024})
    for (unsigned stride : {1, 2, 4, 8, 16, 32}) {
      chase_shared<16><<<1, threads>>>(d_cycles, d_sink, stride);
      few = read_cycles();
      chase_shared<80><<<1, threads>>>(d_cycles, d_sink, stride);
      many = read_cycles();
      snprintf(label, sizeof label, "lds.stride%u.%s", stride, threads == 32 ? "latency" : "cycles_per_warp_per_sm");
      report(label, (many - few) / (64.0 * TRIPS * threads / 32));
    }
  chase_const<16><<<1, 32>>>(d_cycles, d_sink);
  few = read_cycles();
  chase_const<80><<<1, 32>>>(d_cycles, d_sink);
  many = read_cycles();
  report("ldc.latency", (many - few) / (64.0 * TRIPS));

  // next[i] = i keeps each lane at its own word: all hits after the first pass.
  const unsigned WORDS = 1u << 28;  // 1 GiB
  unsigned *next;
  CHECK(cudaMalloc(&next, size_t(WORDS) * 4));
  std::vector<unsigned> self(65536);
  std::iota(self.begin(), self.end(), 0u);
  CHECK(cudaMemcpy(next, self.data(), self.size() * 4, cudaMemcpyHostToDevice));
  for (int threads : {32, 1024})
    for (unsigned stride : {0, 1, 2, 4, 8, 16, 32}) {
      chase_global<16><<<1, threads>>>(d_cycles, d_sink, next, stride, TRIPS);
      few = read_cycles();
      chase_global<80><<<1, threads>>>(d_cycles, d_sink, next, stride, TRIPS);
      many = read_cycles();
      snprintf(label, sizeof label, "ldg_l1.stride%u.%s", stride, threads == 32 ? "latency" : "cycles_per_warp_per_sm");
      report(label, (many - few) / (64.0 * TRIPS * threads / 32));
    }
  // L2 latency over addresses: random lines of 4 MiB, all in L2.
  {
    std::vector<unsigned> chain_of(1 << 20), order(32768);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (size_t i = 0; i < order.size(); ++i) chain_of[order[i] * 32] = order[(i + 1) % order.size()] * 32;
    CHECK(cudaMemcpy(next, chain_of.data(), chain_of.size() * 4, cudaMemcpyHostToDevice));
    for (int r = 0; r < 2; ++r) {
      chase_dram<<<1, 1>>>(d_cycles, d_sink, next, order[0] * 32, 32768);
      many = read_cycles();
    }
    report("ldg_l2.random_4MiB.latency", many / 32768);
  }
  // DRAM: random lines of 1 GiB (64 KiB apart at least: TLB misses too) and of 128 MiB, each touched once.
  for (unsigned words : {1u << 25, 1u << 28}) {
    const int loads = 4096;
    std::vector<unsigned> order(loads);
    const unsigned gap = words / loads;
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(2));
    for (int i = 0; i < loads; ++i) {
      unsigned target = order[(i + 1) % loads] * gap;
      CHECK(cudaMemcpy(next + size_t(order[i]) * gap, &target, 4, cudaMemcpyHostToDevice));
    }
    unsigned *flush;  // push the lines just written out of L2
    CHECK(cudaMalloc(&flush, 1 << 28));
    CHECK(cudaMemset(flush, 1, 1 << 28));
    CHECK(cudaDeviceSynchronize());
    chase_dram<<<1, 1>>>(d_cycles, d_sink, next, order[0] * gap, loads);
    snprintf(label, sizeof label, "ldg_dram.random_%uMiB.latency", words >> 18);
    report(label, read_cycles() / loads);
    CHECK(cudaFree(flush));
  }
  for (int warps : {1, 2, 4, 8, 16, 32}) {
    barriers<16><<<1, warps * 32>>>(d_cycles);
    few = read_cycles();
    barriers<80><<<1, warps * 32>>>(d_cycles);
    many = read_cycles();
    snprintf(label, sizeof label, "bar_sync.warps%d.cycles", warps);
    report(label, (many - few) / (64.0 * TRIPS));
  }
  for (int threads : {1, 32})
    for (unsigned stride : {0, 1}) {
      atomics_shared<16><<<1, threads>>>(d_cycles, d_sink, stride);
      few = read_cycles();
      atomics_shared<80><<<1, threads>>>(d_cycles, d_sink, stride);
      many = read_cycles();
      snprintf(label, sizeof label, "atoms.lanes%d.stride%u.latency", threads, stride);
      report(label, (many - few) / (64.0 * TRIPS));
      CHECK(cudaMemcpy(next, self.data(), self.size() * 4, cudaMemcpyHostToDevice));
      atomics_global<4><<<1, threads>>>(d_cycles, d_sink, next, stride);
      few = read_cycles();
      atomics_global<20><<<1, threads>>>(d_cycles, d_sink, next, stride);
      many = read_cycles();
      snprintf(label, sizeof label, "atomg.lanes%d.stride%u.latency", threads, stride);
      report(label, (many - few) / (16.0 * 8));
    }
  for (unsigned lanes : {0, 16}) {
    diverge<<<1, 32>>>(d_cycles, d_sink, lanes, 64);
    few = read_cycles();
    diverge<<<1, 32>>>(d_cycles, d_sink, lanes, 576);
    many = read_cycles();
    snprintf(label, sizeof label, "if_else.lanes%u.cycles_per_trip", lanes);
    report(label, (many - few) / 512);
  }
  // Bandwidth of the chip: GB/s by events, for footprints in L2 and in DRAM, by warps per SM and loads in flight.
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaMemset(next, 0, size_t(WORDS) * 4));
  auto bandwidth = [&](const char *what, unsigned words, int blocks, int threads, int loads, double total_words, auto kernel) {
    int trips = int(total_words / (double(blocks) * threads * loads));
    float best = 1e30f;
    for (int r = 0; r < 4; ++r) {
      CHECK(cudaEventRecord(begin));
      kernel(blocks, threads, words, trips);
      CHECK(cudaEventRecord(end));
      CHECK(cudaEventSynchronize(end));
      CHECK(cudaGetLastError());
      float ms;
      CHECK(cudaEventElapsedTime(&ms, begin, end));
      best = std::min(best, ms);
    }
    snprintf(label, sizeof label, "%s.warps%d.loads%d.gb_per_s", what, blocks / 132 * threads / 32, loads);
    report(label, 4.0 * trips * double(blocks) * threads * loads / best * 1e-6);
  };
  auto read1 = [&](int b, int t, unsigned w, int n) { read_all<1, false><<<b, t>>>(next, d_sink, w, n); };
  auto read4 = [&](int b, int t, unsigned w, int n) { read_all<4, false><<<b, t>>>(next, d_sink, w, n); };
  auto read8 = [&](int b, int t, unsigned w, int n) { read_all<8, false><<<b, t>>>(next, d_sink, w, n); };
  auto ca8 = [&](int b, int t, unsigned w, int n) { read_all<8, true><<<b, t>>>(next, d_sink, w, n); };
  auto write8 = [&](int b, int t, unsigned w, int n) { write_all<8><<<b, t>>>(next, w, n); };
  const unsigned IN_L2 = 1u << 22, IN_DRAM = 1u << 28;  // words: 16 MiB, 1 GiB
  for (int blocks : {132, 264, 528})
    for (int threads : {256, 512}) {
      bandwidth("l2_read", IN_L2, blocks, threads, 1, 1 << 27, read1);
      bandwidth("l2_read", IN_L2, blocks, threads, 4, 1 << 27, read4);
      bandwidth("l2_read", IN_L2, blocks, threads, 8, 1 << 28, read8);
      bandwidth("dram_read", IN_DRAM, blocks, threads, 1, 1 << 27, read1);
      bandwidth("dram_read", IN_DRAM, blocks, threads, 4, 1 << 27, read4);
      bandwidth("dram_read", IN_DRAM, blocks, threads, 8, 1 << 28, read8);
    }
  bandwidth("dram_read_through_l1", IN_DRAM, 528, 512, 8, 1 << 28, ca8);
  bandwidth("l2_read_through_l1", IN_L2, 528, 512, 8, 1 << 28, ca8);
  bandwidth("l2_write", IN_L2, 528, 512, 8, 1 << 28, write8);
  bandwidth("dram_write", IN_DRAM, 528, 512, 8, 1 << 28, write8);
  printf("\n}\n");
  return 0;
}
