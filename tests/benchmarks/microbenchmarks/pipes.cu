// Which instructions share a pipe, and what contended atomics cost: one SM, 32 warps, clock64().  Prints one JSON object.
//
// A figure is the difference of two runs that differ only in the number of unrolled operations, in cycles per step of a
// warp and scheduler; a step of two instructions that share nothing takes as long as the slower of them.
#include "common.cuh"

constexpr int TRIPS = 32;

#define FFMA(v) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+r"(v) : "r"(y), "r"(z));
#define FADD(v) asm volatile("add.rn.f32 %0, %0, %1;" : "+r"(v) : "r"(y));
#define IMAD(v) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(v) : "r"(y), "r"(z));
#define IMADHI(v) asm volatile("mad.hi.u32 %0, %0, %1, %2;" : "+r"(v) : "r"(y), "r"(z));
#define SHF(v) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(v) : "r"(y), "r"(z));
#define LOP3(v) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(v) : "r"(y), "r"(z));
#define ADDI(v) asm volatile("add.u32 %0, %0, 77;" : "+r"(v));
#define ADDR(v) asm volatile("add.u32 %0, %0, %1;" : "+r"(v) : "r"(y));
#define HFMA(v) asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(v) : "r"(y), "r"(z));
#define MUFU(v) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+r"(v));
#define POPC(v) asm volatile("popc.b32 %0, %0;" : "+r"(v));
#define SHFL(v) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(v));
#define NONE(v)

#define EACH(OP) OP(x[0]) OP(x[1]) OP(x[2]) OP(x[3]) OP(x[4]) OP(x[5]) OP(x[6]) OP(x[7])

#define PAIR(NAME, FIRST, SECOND)                                                              \
  struct NAME {                                                                               \
    static __device__ void step(unsigned *x, unsigned y, unsigned z) { EACH(FIRST) EACH(SECOND) } \
  };
PAIR(Ffma, FFMA, NONE)
PAIR(Imad, IMAD, NONE)
PAIR(Hfma, HFMA, NONE)
PAIR(FfmaImad, FFMA, IMAD)
PAIR(FfmaShf, FFMA, SHF)
PAIR(FfmaAddi, FFMA, ADDI)
PAIR(ImadShf, IMAD, SHF)
PAIR(ImadAddi, IMAD, ADDI)
PAIR(ShfAddi, SHF, ADDI)
PAIR(ShfLop3, SHF, LOP3)
PAIR(ShfAddr, SHF, ADDR)
PAIR(FfmaHfma, FFMA, HFMA)
PAIR(ImadHfma, IMAD, HFMA)
PAIR(FfmaImadHi, FFMA, IMADHI)
PAIR(ImadImadHi, IMAD, IMADHI)
PAIR(FfmaFadd, FFMA, FADD)
PAIR(Lop3Addr, LOP3, ADDR)
PAIR(ImadAddr, IMAD, ADDR)
PAIR(FfmaAddr, FFMA, ADDR)
PAIR(MufuPopc, MUFU, POPC)
PAIR(MufuShfl, MUFU, SHFL)
PAIR(ImadMufu, IMAD, MUFU)

template <class Pair, int UNROLL> __global__ void steps(long long *cycles, unsigned *sink, unsigned y, unsigned z) {
  unsigned x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = threadIdx.x * (k + y);
  cycles[0] = timed<UNROLL>(TRIPS, [&](int, int) { Pair::step(x, y, z); });
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += x[k];
  sink[threadIdx.x] = sum;
}

// Atomics on shared memory: lane l of warp w adds to word (l / same * stride + w * apart) of the block.
template <int UNROLL, bool RETURNS>
__global__ void atomics(long long *cycles, unsigned *sink, unsigned same, unsigned stride, unsigned apart) {
  __shared__ unsigned data[8192];
  for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) data[i] = 0;
  unsigned *mine = data + (threadIdx.x % 32 / same * stride + threadIdx.x / 32 * apart) % 8192;
  unsigned sum = 0;
  cycles[0] = timed<UNROLL>(TRIPS, [&](int, int) {
    if (RETURNS) sum += atomicExch(mine, sum);
    else atomicAdd(mine, 1u);
  });
  sink[threadIdx.x] = sum + data[threadIdx.x];
}

// The same with words by a hash of lane, warp and step: a histogram of random data with so many bins.
template <int UNROLL> __global__ void bins(long long *cycles, unsigned *sink, unsigned mask) {
  __shared__ unsigned data[8192];
  for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) data[i] = 0;
  unsigned seed = threadIdx.x * 2654435761u + 12345u;
  cycles[0] = timed<UNROLL>(TRIPS, [&](int, int) {
    seed = seed * 1664525u + 1013904223u;
    atomicAdd(&data[seed >> 16 & mask], 1u);
  });
  sink[threadIdx.x] = data[threadIdx.x];
}

// Loads of constants by a register.
__constant__ unsigned table[1024];
template <int UNROLL> __global__ void constants(long long *cycles, unsigned *sink) {
  unsigned sum = 0;
  cycles[0] = timed<UNROLL>(TRIPS, [&](int i, int k) {
    unsigned v;
    asm volatile("ld.const.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_constant(table + (i + 4 * k))));
    sum += v;
  });
  sink[threadIdx.x] = sum;
}

// The tail of a reduction in one warp: two volatile loads, an addition and a volatile store a step.
template <int UNROLL> __global__ void tail(long long *cycles, unsigned *sink, unsigned *data) {
  volatile unsigned *mine = data + blockIdx.x * 1024 + threadIdx.x % 32;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < TRIPS; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) mine[0] += mine[16 >> k % 4];
    }
    start = clock64() - start;
  }
  cycles[blockIdx.x] = start;
  sink[threadIdx.x] = mine[0];
}

// How evenly the warps of one scheduler share a pipe: cycles of each of 16 warps (4 a scheduler) for the same loop.
template <class Pair> __global__ void shares(long long *cycles, unsigned *sink, unsigned y, unsigned z, int trips) {
  unsigned x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = threadIdx.x * (k + y);
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) Pair::step(x, y, z);
  }
  start = clock64() - start;
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += x[k];
  if (threadIdx.x % 32 == 0) cycles[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = start;
  sink[threadIdx.x] = sum;
}

template <class Pair> void measure(const char *name) {
  auto launch = [](auto kernel) { kernel<<<1, 1024>>>(d_cycles, d_sink, 3, 5); };
  report(slope(launch, steps<Pair, 2>, steps<Pair, 10>) / (8.0 * 8 * TRIPS * 8), name);
}

template <class Kernel> void measure_shares(const char *name, Kernel kernel) {
  for (int threads : {128, 512}) {
    const int blocks = SMS * 512 / threads, warps = threads / 32;
    kernel<<<blocks, threads>>>(d_cycles, d_sink, 3, 5, 64);
    const auto cycles = download(d_cycles, blocks * warps);
    for (int block = 0; block < blocks; block += SMS)
      for (int warp = 0; warp < warps; warp += 4)
        report(double(cycles[block * warps + warp]), "shares.%s.block%d_of_%d.warp%d", name, block / SMS, blocks / SMS, warp);
  }
}

int main() {
  start_clocked();
  measure<Ffma>("ffma");
  measure<Imad>("imad");
  measure<Hfma>("hfma2");
  measure<FfmaImad>("ffma+imad");
  measure<FfmaShf>("ffma+shf");
  measure<FfmaAddi>("ffma+add_immediate");
  measure<ImadShf>("imad+shf");
  measure<ImadAddi>("imad+add_immediate");
  measure<ShfAddi>("shf+add_immediate");
  measure<ShfLop3>("shf+lop3");
  measure<ShfAddr>("shf+add_register");
  measure<FfmaHfma>("ffma+hfma2");
  measure<ImadHfma>("imad+hfma2");
  measure<FfmaImadHi>("ffma+imad_hi");
  measure<ImadImadHi>("imad+imad_hi");
  measure<FfmaFadd>("ffma+fadd");
  measure<Lop3Addr>("lop3+add_register");
  measure<ImadAddr>("imad+add_register");
  measure<FfmaAddr>("ffma+add_register");
  measure<MufuPopc>("mufu+popc");
  measure<MufuShfl>("mufu+shfl");
  measure<ImadMufu>("imad+mufu");
  for (int warps : {1, 4, 32}) {
    auto launch = [&](auto kernel) { kernel<<<1, 32 * warps>>>(d_cycles, d_sink); };
    report(slope(launch, constants<4>, constants<20>) / (16.0 * TRIPS * warps), "ldc.warps%d", warps);
  }
  for (int warps : {1, 4, 32})
    for (unsigned apart : {0, 32, 1}) {
      auto measure_atomics = [&](auto few, auto many, unsigned same, unsigned stride) {
        auto launch = [&](auto kernel) { kernel<<<1, 32 * warps>>>(d_cycles, d_sink, same, stride, apart); };
        return slope(launch, few, many) / (16.0 * TRIPS * warps);
      };
      for (unsigned same : {1, 2, 4, 8, 16, 32}) {
        const double add = measure_atomics(atomics<4, false>, atomics<20, false>, same, 1);
        report(add, "atoms_add.warps%d.apart%u.same%u", warps, apart, same);
        const double exchange = measure_atomics(atomics<4, true>, atomics<20, true>, same, 1);
        report(exchange, "atoms_exch.warps%d.apart%u.same%u", warps, apart, same);
      }
      for (unsigned stride : {2, 8, 32}) {
        const double add = measure_atomics(atomics<4, false>, atomics<20, false>, 1, stride);
        report(add, "atoms_add.warps%d.apart%u.stride%u", warps, apart, stride);
      }
    }
  for (int warps : {1, 4, 8, 32})
    for (unsigned mask : {31, 255, 4095}) {
      auto launch = [&](auto kernel) { kernel<<<1, 32 * warps>>>(d_cycles, d_sink, mask); };
      report(slope(launch, bins<4>, bins<20>) / (16.0 * TRIPS * warps), "bins%u.warps%d", mask + 1, warps);
    }
  unsigned *data = allocate<unsigned>(1 << 20);
  for (int blocks : {1, SMS, 4 * SMS}) {
    auto launch = [&](auto kernel) { kernel<<<blocks, 32>>>(d_cycles, d_sink, data); };
    report(slope(launch, tail<2>, tail<10>) / (8.0 * TRIPS), "volatile_step.blocks%d", blocks);
  }
  measure_shares("imad", shares<Imad>);
  measure_shares("ffma+imad", shares<FfmaImad>);
  measure_shares("shf+add_immediate", shares<ShfAddi>);
  end_report();
  return 0;
}
