// Latencies and throughputs of one SM, read with clock64() inside the kernels.  Prints one JSON object.
//
// A figure is the difference of two runs that differ only in the number of unrolled operations, so that the
// loop, the clock reads and the first instruction fetches cancel out.
#include "common.cuh"
#include <numeric>
#include <random>

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
  cycles[blockIdx.x] = timed<UNROLL, false>(TRIPS, [&](int, int) { Op::step(x, y, z); });
  sink[threadIdx.x] = x;
}

template <class Op, int UNROLL> __global__ void streams(long long *cycles, unsigned *sink, unsigned y, unsigned z) {
  unsigned x[4] = {threadIdx.x + y, threadIdx.x + z, threadIdx.x ^ y, threadIdx.x ^ z};
  cycles[blockIdx.x] = timed<UNROLL>(TRIPS, [&x, y, z](int, int) {
    Op::step(x[0], y, z);
    Op::step(x[1], y, z);
    Op::step(x[2], y, z);
    Op::step(x[3], y, z);
  });
  sink[threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}

template <int UNROLL, bool FMA> __global__ void chain_f64(long long *cycles, double *sink, double y, double z) {
  double x = threadIdx.x + y;
  cycles[blockIdx.x] = timed<UNROLL>(TRIPS, [&](int, int) { x = FMA ? __fma_rn(x, y, z) : __dadd_rn(x, y); });
  sink[threadIdx.x] = x;
}

template <int UNROLL> __global__ void chain_wide(long long *cycles, unsigned long long *sink, unsigned y, int) {
  unsigned long long x = threadIdx.x + y;
  cycles[blockIdx.x] = timed<UNROLL>(TRIPS, [&](int, int) { x = (unsigned long long)(unsigned)x * y + x; });
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
  cycles[blockIdx.x] = timed<UNROLL, false>(TRIPS, [&](int, int) { at = chase_constant[at]; });
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

template <class Op> void measure(const char *name) {
  auto one_warp = [](auto kernel) { kernel<<<1, 32>>>(d_cycles, d_sink, 3, 5); };
  auto all_warps = [](auto kernel) { kernel<<<1, 1024>>>(d_cycles, d_sink, 3, 5); };
  report(slope(one_warp, chain<Op, 16>, chain<Op, 80>) / (64.0 * TRIPS), "%s.latency", name);
  const double cycles = slope(all_warps, streams<Op, 4>, streams<Op, 20>);
  report(cycles / (16.0 * 4 * TRIPS * 8), "%s.cycles_per_warp_per_scheduler", name);
}

// The same of kernels of 16 and of 80 operations, with one warp and with eight a scheduler.
template <class Kernel, class Word, class Factor>
void measure_both(const char *name, Kernel few, Kernel many, Word *sink, Factor y, Factor z) {
  for (int threads : {32, 1024}) {
    auto launch = [&](Kernel kernel) { kernel<<<1, threads>>>(d_cycles, sink, y, z); };
    const double each = slope(launch, few, many) / (64.0 * TRIPS * (threads == 32 ? 1 : 8));
    report(each, "%s.%s", name, threads == 32 ? "latency" : "cycles_per_warp_per_scheduler");
  }
}

template <bool FMA> void measure_f64(const char *name) {
  measure_both(name, chain_f64<16, FMA>, chain_f64<80, FMA>, (double *)d_sink, 1.5, 2.5);
}

// GB/s of the chip by events, the best of four runs of about *total_words* words.
template <class Launch>
void bandwidth(const char *name, unsigned words, int blocks, int threads, int loads, double total_words, Launch launch) {
  static cudaEvent_t begin, end;
  if (!begin) {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  const int trips = int(total_words / (double(blocks) * threads * loads));
  float best = 1e30f;
  for (int run = 0; run < 4; ++run) {
    float ms;
    CHECK(cudaEventRecord(begin));
    launch(blocks, threads, words, trips);
    CHECK(cudaEventRecord(end));
    finish();
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    best = std::min(best, ms);
  }
  const double rate = 4.0 * trips * double(blocks) * threads * loads / best * 1e-6;
  report(rate, "%s.warps%d.loads%d.gb_per_s", name, blocks / SMS * threads / 32, loads);
}

// The numbers below *count* in an order that *seed* gives.
std::vector<unsigned> shuffled(int count, int seed) {
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

int main() {
  start_clocked();
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
  measure_both("imad_wide", chain_wide<16>, chain_wide<80>, (unsigned long long *)d_sink, 3, 0);
  for (int threads : {32, 1024})
    for (unsigned stride : {1, 2, 4, 8, 16, 32}) {
      auto launch = [&](auto kernel) { kernel<<<1, threads>>>(d_cycles, d_sink, stride); };
      const double each = slope(launch, chase_shared<16>, chase_shared<80>) / (64.0 * TRIPS * threads / 32);
      report(each, "lds.stride%u.%s", stride, threads == 32 ? "latency" : "cycles_per_warp_per_sm");
    }
  auto one_warp = [](auto kernel) { kernel<<<1, 32>>>(d_cycles, d_sink); };
  report(slope(one_warp, chase_const<16>, chase_const<80>) / (64.0 * TRIPS), "ldc.latency");

  // next[i] = i keeps each lane at its own word: all hits after the first pass.
  const unsigned WORDS = 1u << 28;  // 1 GiB
  unsigned *next = allocate<unsigned>(WORDS);
  std::vector<unsigned> self(65536);
  std::iota(self.begin(), self.end(), 0u);
  upload(next, self);
  for (int threads : {32, 1024})
    for (unsigned stride : {0, 1, 2, 4, 8, 16, 32}) {
      auto launch = [&](auto kernel) { kernel<<<1, threads>>>(d_cycles, d_sink, next, stride, TRIPS); };
      const double each = slope(launch, chase_global<16>, chase_global<80>) / (64.0 * TRIPS * threads / 32);
      report(each, "ldg_l1.stride%u.%s", stride, threads == 32 ? "latency" : "cycles_per_warp_per_sm");
    }
  // L2 latency over addresses: random lines of 4 MiB, all in L2.
  {
    const auto order = shuffled(32768, 1);
    std::vector<unsigned> chain_of(1 << 20);
    for (size_t i = 0; i < order.size(); ++i) chain_of[order[i] * 32] = order[(i + 1) % order.size()] * 32;
    upload(next, chain_of);
    for (int round = 0; round < 2; ++round) chase_dram<<<1, 1>>>(d_cycles, d_sink, next, order[0] * 32, 32768);
    report(read_cycles() / 32768, "ldg_l2.random_4MiB.latency");
  }
  // DRAM: random lines of 1 GiB (64 KiB apart at least: TLB misses too) and of 128 MiB, each touched once.
  for (unsigned words : {1u << 25, 1u << 28}) {
    const int loads = 4096;
    const unsigned gap = words / loads;
    const auto order = shuffled(loads, 2);
    for (int i = 0; i < loads; ++i) {
      unsigned target = order[(i + 1) % loads] * gap;
      CHECK(cudaMemcpy(next + size_t(order[i]) * gap, &target, 4, cudaMemcpyHostToDevice));
    }
    unsigned *others = allocate<unsigned>(1 << 26);  // pushes the lines just written out of L2
    finish();
    chase_dram<<<1, 1>>>(d_cycles, d_sink, next, order[0] * gap, loads);
    report(read_cycles() / loads, "ldg_dram.random_%uMiB.latency", words >> 18);
    CHECK(cudaFree(others));
  }
  for (int warps : {1, 2, 4, 8, 16, 32}) {
    auto launch = [&](auto kernel) { kernel<<<1, warps * 32>>>(d_cycles); };
    report(slope(launch, barriers<16>, barriers<80>) / (64.0 * TRIPS), "bar_sync.warps%d.cycles", warps);
  }
  for (int threads : {1, 32})
    for (unsigned stride : {0, 1}) {
      auto in_shared = [&](auto kernel) { kernel<<<1, threads>>>(d_cycles, d_sink, stride); };
      const double shared = slope(in_shared, atomics_shared<16>, atomics_shared<80>) / (64.0 * TRIPS);
      report(shared, "atoms.lanes%d.stride%u.latency", threads, stride);
      upload(next, self);
      auto in_global = [&](auto kernel) { kernel<<<1, threads>>>(d_cycles, d_sink, next, stride); };
      const double global = slope(in_global, atomics_global<4>, atomics_global<20>) / (16.0 * 8);
      report(global, "atomg.lanes%d.stride%u.latency", threads, stride);
    }
  for (unsigned lanes : {0, 16}) {
    auto launch = [&](int trips) { diverge<<<1, 32>>>(d_cycles, d_sink, lanes, trips); };
    report(slope(launch, 64, 576) / 512, "if_else.lanes%u.cycles_per_trip", lanes);
  }
  // Bandwidth of the chip, for footprints in L2 and in DRAM, by warps per SM and loads in flight.
  CHECK(cudaMemset(next, 0, size_t(WORDS) * 4));
  auto read1 = [&](int b, int t, unsigned w, int n) { read_all<1, false><<<b, t>>>(next, d_sink, w, n); };
  auto read4 = [&](int b, int t, unsigned w, int n) { read_all<4, false><<<b, t>>>(next, d_sink, w, n); };
  auto read8 = [&](int b, int t, unsigned w, int n) { read_all<8, false><<<b, t>>>(next, d_sink, w, n); };
  auto ca8 = [&](int b, int t, unsigned w, int n) { read_all<8, true><<<b, t>>>(next, d_sink, w, n); };
  auto write8 = [&](int b, int t, unsigned w, int n) { write_all<8><<<b, t>>>(next, w, n); };
  const unsigned IN_L2 = 1u << 22, IN_DRAM = 1u << 28;  // words: 16 MiB, 1 GiB
  for (int blocks : {SMS, 2 * SMS, 4 * SMS})
    for (int threads : {256, 512}) {
      bandwidth("l2_read", IN_L2, blocks, threads, 1, 1 << 27, read1);
      bandwidth("l2_read", IN_L2, blocks, threads, 4, 1 << 27, read4);
      bandwidth("l2_read", IN_L2, blocks, threads, 8, 1 << 28, read8);
      bandwidth("dram_read", IN_DRAM, blocks, threads, 1, 1 << 27, read1);
      bandwidth("dram_read", IN_DRAM, blocks, threads, 4, 1 << 27, read4);
      bandwidth("dram_read", IN_DRAM, blocks, threads, 8, 1 << 28, read8);
    }
  bandwidth("dram_read_through_l1", IN_DRAM, 4 * SMS, 512, 8, 1 << 28, ca8);
  bandwidth("l2_read_through_l1", IN_L2, 4 * SMS, 512, 8, 1 << 28, ca8);
  bandwidth("l2_write", IN_L2, 4 * SMS, 512, 8, 1 << 28, write8);
  bandwidth("dram_write", IN_DRAM, 4 * SMS, 512, 8, 1 << 28, write8);
  end_report();
  return 0;
}
