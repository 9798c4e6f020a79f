// The load/store side, read with clock64() inside the kernels: latencies from L2 by place, streams of accesses of few and
// of many warps, what L1 holds beside shared memory, what misses cost, what shares the load/store unit, and what stores
// and reductions cost on their way to L2.
// Prints one JSON object.  A figure is the difference of two runs that differ in the number of steps.
#include "common.cuh"

// Each lane follows next[] from L2, which leads it back to its own word.
template <int UNROLL> __global__ void chase(long long *cycles, unsigned *sink, const unsigned *next, unsigned stride) {
  unsigned at = 0;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    at = threadIdx.x % 32 * stride;
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(next + at));
    }
    __syncthreads();
    start = clock64() - start;
  }
  cycles[0] = start;
  sink[threadIdx.x] = at;
}

// A chain of accesses to shared memory, each with the result of the one before.
struct Load { static __device__ unsigned step(unsigned at, unsigned) { unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at)); return v; } };
struct Max { static __device__ unsigned step(unsigned at, unsigned) { unsigned v; asm volatile("atom.shared.max.u32 %0, [%1], 0;" : "=r"(v) : "r"(at)); return v; } };
struct Exchange { static __device__ unsigned step(unsigned v, unsigned at) { unsigned r; asm volatile("atom.shared.exch.b32 %0, [%1], %2;" : "=r"(r) : "r"(at), "r"(v)); return r; } };
struct Add { static __device__ unsigned step(unsigned v, unsigned at) { unsigned r; asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(r) : "r"(at), "r"(v)); return r; } };
struct Swap { static __device__ unsigned step(unsigned v, unsigned at) { unsigned r; asm volatile("atom.shared.cas.b32 %0, [%1], %2, %2;" : "=r"(r) : "r"(at), "r"(v)); return r; } };

template <class Op, int UNROLL> __global__ void chain(long long *cycles, unsigned *sink) {
  __shared__ unsigned array[32];
  unsigned mine = (unsigned)__cvta_generic_to_shared(array + threadIdx.x), v = mine;
  array[threadIdx.x] = mine;
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < 32; ++i) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) v = Op::step(v, mine);
  }
  cycles[0] = clock64() - start;
  sink[threadIdx.x] = v;
}

// Eight accesses that do not wait for each other a trip; lanes are `stride` words apart.
template <int OP> __global__ void stream(long long *cycles, unsigned *sink, const unsigned *data, unsigned stride, unsigned first, int trips) {
  __shared__ unsigned array[9216];
  for (unsigned i = threadIdx.x; i < 9216; i += blockDim.x) array[i] = 0;
  unsigned at = (unsigned)__cvta_generic_to_shared(array + threadIdx.x % 32 * stride), sum = 0;
  const unsigned *mine = data + threadIdx.x % 32 * stride + first;
  cycles[0] = timed<1>(trips, [&](int i, int) {
    unsigned v[8] = {};
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (OP == 0) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(at + (i & 1) * 128 + k * 4096));
      if (OP == 1) asm volatile("st.shared.u32 [%0], %1;" ::"r"(at + (i & 1) * 128 + k * 4096), "r"(i) : "memory");
      if (OP == 2) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(mine + (i & 1) * 8192 + k * 1024));
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += v[k];
  });
  sink[threadIdx.x] = sum + array[threadIdx.x];
}

// Sixteen loads that hit in L1 a trip, and X others beside them.
template <int OP, int X> __global__ void beside(long long *cycles, unsigned *sink, const unsigned *data, int trips) {
  __shared__ unsigned array[1024];
  array[threadIdx.x] = 0;
  const unsigned *mine = data + threadIdx.x % 32;
  unsigned at = (unsigned)__cvta_generic_to_shared(array + threadIdx.x % 32), sum = threadIdx.x;
  cycles[0] = timed<1>(trips, [&](int i, int) {
    unsigned v[16], w[X + 1] = {};
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(mine + (i & 1) * 8192 + k * 64));
      if (k >= X) continue;
      if (OP == 0) asm volatile("mov.u32 %0, %%smid;" : "=r"(w[k]));
      if (OP == 1) asm volatile("popc.b32 %0, %1;" : "=r"(w[k]) : "r"(sum + k));
      if (OP == 2) asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=r"(w[k]) : "r"(sum + k));
      if (OP == 3) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w[k]) : "r"(at + k * 128));
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += v[k];
#pragma unroll
    for (int k = 0; k < X; ++k) sum += w[k];
  });
  sink[threadIdx.x] = sum;
}

// One lane follows a chain over so many lines, four times.  L1 holds them or not: shared memory takes room from it.
__global__ void hold(long long *cycles, unsigned *sink, const unsigned *data, unsigned lines) {
  if (threadIdx.x) return;
  unsigned step = 0;
  long long start = 0;
  for (int pass = 0; pass < 4; ++pass) {
    const unsigned *at = data;
    start = clock64();
#pragma unroll 4
    for (unsigned i = 0; i < lines; ++i) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(step) : "l"(at));
      at += 32 + step;
    }
    start = clock64() - start;
  }
  cycles[0] = start;
  sink[0] = step;
}

// Eight loads a trip, of which the lanes below `hit` find their lines in L1, the others not; each lane has its own line.
__global__ void partly(long long *cycles, unsigned *sink, const unsigned *data, unsigned hit, int trips) {
  const unsigned lane = threadIdx.x % 32, stride = 33, around = 1 << 14;
  const unsigned *mine = data + lane * stride + (lane < hit ? 0 : 1 << 16) + (lane < hit ? 0 : threadIdx.x / 32 * around);
  unsigned at = 0, sum = 0;
  cycles[0] = timed<1>(trips, [&](int, int) {
    unsigned v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(mine + (lane < hit ? 0 : at)));
      at = (at + 32 * stride) % around;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += v[k];
  });
  sink[threadIdx.x] = sum;
}

// A load that misses L1 a trip, of lanes `stride` words apart, and so many of one line each that hit.
template <int HITS> __global__ void misses(long long *cycles, unsigned *sink, const unsigned *data, unsigned stride, int trips) {
  const unsigned lane = threadIdx.x % 32, around = 1 << 14;
  const unsigned *far = data + (1 << 16) + threadIdx.x / 32 * around + lane * stride, *near = data + lane;
  unsigned at = blockIdx.x % 4 * (around / 4), sum = 0;
  const long long found = timed<1>(trips, [&](int i, int) {
    unsigned v[HITS + 1];
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[HITS]) : "l"(far + at));
    at = (at + 32 * stride) % around;
#pragma unroll
    for (int k = 0; k < HITS; ++k) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(near + (i & 1) * 8192 + k * 64));
#pragma unroll
    for (int k = 0; k <= HITS; ++k) sum += v[k];
  });
  if (threadIdx.x == 0) cycles[blockIdx.x] = found;
  sink[threadIdx.x] = sum;
}

// Four loads from L2 a trip: the warps of a block share `words` words, each block begins elsewhere in them.
__global__ void from_l2(long long *cycles, unsigned *sink, const unsigned *data, unsigned stride, unsigned words, int trips) {
  const unsigned own = words / 32, base = (threadIdx.x / 32 * own + blockIdx.x * 32 * 1237) % words + threadIdx.x % 32 * stride;
  unsigned at = 0, sum = 0;
  const long long found = timed<1>(trips, [&](int, int) {
    unsigned v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(data + base + at));
      at = (at + 32 * stride) % own;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += v[k];
  });
  if (threadIdx.x == 0) cycles[blockIdx.x] = found;
  sink[threadIdx.x] = sum;
}

// Stores (RED: reductions) of a warp that L2 has already: LANES lanes to each of 32 / LANES lines, WORDS words apart.
template <bool RED, int LANES, int WORDS> __global__ void send(long long *cycles, unsigned *data, int trips) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned *mine = data + warp * 1024 + lane / LANES * 32 + lane % LANES * WORDS;
  for (int k = 0; k < 32; ++k) data[warp * 1024 + k * 32 + lane] = 0;
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      unsigned *place = mine + k * (32 / LANES) % 32 * 32;
      if (RED) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(place), "r"(i) : "memory");
      else asm volatile("st.global.u32 [%0], %1;" ::"l"(place), "r"(i) : "memory");
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
}

unsigned *data;

template <class Op> void measure_chain(const char *name) {
  auto launch = [](auto kernel) { kernel<<<1, 32>>>(d_cycles, d_sink); };
  report(slope(launch, chain<Op, 16>, chain<Op, 80>) / (64.0 * 32), "%s.latency", name);
}

template <int OP> void measure_stream(const char *name, int warps, unsigned stride, unsigned first) {
  auto launch = [&](int trips) { stream<OP><<<1, 32 * warps>>>(d_cycles, d_sink, data, stride, first, trips); };
  report(slope(launch, 16, 80) / (64.0 * 8 * warps), "%s.warps%d.stride%u.first%u", name, warps, stride, first);
}

template <int OP, int X> void measure_beside(const char *name) {
  auto launch = [](int trips) { beside<OP, X><<<1, 1024>>>(d_cycles, d_sink, data, trips); };
  report(slope(launch, 16, 80) / (64.0 * 32), "16_ldg+%d_%s", X, name);
}

void measure_hold(int shared, int threads, unsigned lines) {
  hold<<<1, threads, shared>>>(d_cycles, d_sink, data + (1 << 20), lines);  // zeros
  report(read_cycles() / lines, "hold.shared%d.threads%d.lines%u", shared, threads, lines);
}

template <int HITS> void measure_misses(unsigned stride, int blocks) {
  auto launch = [=](int trips) { misses<HITS><<<blocks, 1024>>>(d_cycles, d_sink, data, stride, trips); };
  report(slope(launch, 64, 320, blocks) / (256.0 * 32), "1_miss+%d_hits.stride%u.blocks%d", HITS, stride, blocks);
}

void measure_from_l2(unsigned mib, unsigned stride) {
  auto launch = [=](int trips) { from_l2<<<SMS, 1024>>>(d_cycles, d_sink, data, stride, mib << 18, trips); };
  report(slope(launch, 64, 320, SMS) / (256.0 * 32 * 4), "ldg_l2.mib%u.stride%u.blocks%d", mib, stride, SMS);
}

template <bool RED, int LANES, int WORDS> void measure_send() {
  for (int blocks : {1, SMS}) {
    auto launch = [&](int trips) { send<RED, LANES, WORDS><<<blocks, 512>>>(d_cycles, data, trips); };
    const double each = slope(launch, 16, 80, blocks) / (64.0 * 8 * 16 * 32 / LANES);
    report(each, "%s.lanes%d.words%d.blocks%d", RED ? "red" : "stg", LANES, WORDS, blocks);
  }
}

int main() {
  start_clocked();
  data = allocate<unsigned>(1 << 24);
  const int PLACES = 32, WORDS = 4096;
  std::vector<unsigned> itself(PLACES * WORDS);
  for (size_t k = 0; k < itself.size(); ++k) itself[k] = unsigned(k % WORDS);
  upload(data, itself);
  for (int warps : {1, 32})
    for (unsigned stride : {0, 1, 8, 32}) {
      double sum = 0;
      for (int place = 0; place < PLACES; ++place) {
        auto launch = [&](auto kernel) { kernel<<<1, 32 * warps>>>(d_cycles, d_sink, data + place * WORDS, stride); };
        sum += slope(launch, chase<4>, chase<20>);
      }
      report(sum / (128.0 * warps * PLACES), "ldg_l2.warps%d.stride%u", warps, stride);
    }
  measure_chain<Load>("lds");
  measure_chain<Max>("atoms_max_zero");
  measure_chain<Exchange>("atoms_exch");
  measure_chain<Add>("atoms_add");
  measure_chain<Swap>("atoms_cas");
  for (int warps : {1, 2, 4, 32})
    for (unsigned stride : {4, 8, 32}) {
      measure_stream<0>("lds", warps, stride, 0);
      measure_stream<1>("sts", warps, stride, 0);
      if (stride < 32 || warps == 32) measure_stream<2>("ldg", warps, stride, 0);
    }
  for (unsigned line : {0, 6, 7, 8, 23}) measure_stream<2>("ldg", 32, 1, line * 32 + 1);
  for (int warps : {1, 32})
    for (unsigned stride : {3, 5, 9, 17, 20, 33})
      if (stride < 11 || warps == 32) measure_stream<2>("ldg", warps, stride, 0);
  for (unsigned stride : {10, 11}) measure_stream<2>("ldg", 8, stride, 0);
  measure_hold(0, 1024, 1896);
  measure_hold(1024, 512, 1800);
  measure_hold(0, 32, 1700);
  measure_hold(0, 32, 2300);
  measure_hold(3072, 256, 1448);
  measure_hold(3072, 256, 2000);
  measure_hold(4096, 256, 1160);
  measure_hold(4096, 256, 1536);
  measure_hold(8192, 256, 900);
  measure_hold(8192, 256, 1300);
  measure_hold(8192, 1024, 1700);
  measure_hold(16384, 256, 640);
  measure_hold(16384, 256, 1100);
  measure_hold(49152, 128, 416);
  measure_hold(49152, 128, 800);
  measure_hold(36864, 32, 160);
  measure_hold(36864, 32, 400);
  measure_hold(36864, 1024, 1160);
  for (unsigned hit : {0, 8, 16, 24, 28, 32}) {
    auto launch = [&](int trips) { partly<<<1, 1024>>>(d_cycles, d_sink, data, hit, trips); };
    report(slope(launch, 16, 80) / (64.0 * 8 * 32), "ldg.lines32.hit%u", hit);
  }
  measure_misses<0>(33, 1);
  measure_misses<8>(33, 1);
  measure_misses<16>(33, 1);
  measure_misses<32>(33, 1);
  measure_misses<32>(15, 1);
  measure_misses<0>(33, SMS);
  measure_misses<0>(8, SMS);
  measure_misses<0>(1, SMS);
  for (unsigned stride : {8, 33}) measure_from_l2(16, stride);
  measure_beside<0, 0>("none");
  measure_beside<0, 8>("s2r");
  measure_beside<1, 8>("popc");
  measure_beside<2, 8>("mufu");
  measure_beside<3, 8>("lds");
  measure_send<false, 32, 1>();
  measure_send<false, 16, 1>();
  measure_send<false, 8, 1>();
  measure_send<false, 4, 1>();
  measure_send<false, 4, 8>();
  measure_send<false, 16, 2>();
  measure_send<true, 32, 1>();
  measure_send<true, 8, 1>();
  measure_send<true, 4, 1>();
  measure_send<true, 4, 8>();
  measure_send<true, 1, 1>();
  end_report();
  return 0;
}
