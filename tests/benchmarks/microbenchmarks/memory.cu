// The load/store side, read with clock64() inside the kernels: latencies from L2 by place, streams of accesses of few and
// of many warps, what shares the load/store unit, and what stores and reductions cost on their way to L2.
// Prints one JSON object.  A figure is the difference of two runs that differ in the number of steps.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                      \
  do {                                                                                                   \
    cudaError_t status = (call);                                                                         \
    if (status != cudaSuccess) {                                                                         \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                      \
      exit(1);                                                                                           \
    }                                                                                                    \
  } while (0)

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
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
      unsigned v[8] = {};
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        if (OP == 0) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(at + (i & 1) * 128 + k * 4096));
        if (OP == 1) asm volatile("st.shared.u32 [%0], %1;" ::"r"(at + (i & 1) * 128 + k * 4096), "r"(i) : "memory");
        if (OP == 2) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(mine + (i & 1) * 8192 + k * 1024));
      }
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += v[k];
    }
    __syncthreads();
    start = clock64() - start;
  }
  cycles[0] = start;
  sink[threadIdx.x] = sum + array[threadIdx.x];
}

// Sixteen loads that hit in L1 a trip, and X others beside them.
template <int OP, int X> __global__ void beside(long long *cycles, unsigned *sink, const unsigned *data, int trips) {
  __shared__ unsigned array[1024];
  array[threadIdx.x] = 0;
  const unsigned *mine = data + threadIdx.x % 32;
  unsigned at = (unsigned)__cvta_generic_to_shared(array + threadIdx.x % 32), sum = threadIdx.x;
  long long start = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
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
    }
    __syncthreads();
    start = clock64() - start;
  }
  cycles[0] = start;
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

long long *d_cycles;
unsigned *d_sink, *data;
bool first_entry = true;

double read_cycles(int blocks = 1) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<long long> c(blocks);
  CHECK(cudaMemcpy(c.data(), d_cycles, blocks * sizeof(long long), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (long long one : c) sum += double(one);
  return sum / blocks;
}

void report(const char *name, double value) {
  printf("%s  \"%s\": %.4f", first_entry ? "" : ",\n", name, value);
  first_entry = false;
}

template <class Op> void measure_chain(const char *name) {
  char label[80];
  double few = 0, many = 0;
  for (int r = 0; r < 2; ++r) {
    chain<Op, 16><<<1, 32>>>(d_cycles, d_sink);
    few = read_cycles();
    chain<Op, 80><<<1, 32>>>(d_cycles, d_sink);
    many = read_cycles();
  }
  snprintf(label, sizeof label, "%s.latency", name);
  report(label, (many - few) / (64.0 * 32));
}

template <int OP> void measure_stream(const char *name, int warps, unsigned stride, unsigned first) {
  char label[80];
  stream<OP><<<1, 32 * warps>>>(d_cycles, d_sink, data, stride, first, 16);
  double few = read_cycles();
  stream<OP><<<1, 32 * warps>>>(d_cycles, d_sink, data, stride, first, 80);
  double many = read_cycles();
  snprintf(label, sizeof label, "%s.warps%d.stride%u.first%u", name, warps, stride, first);
  report(label, (many - few) / (64.0 * 8 * warps));
}

template <int OP, int X> void measure_beside(const char *name) {
  char label[80];
  beside<OP, X><<<1, 1024>>>(d_cycles, d_sink, data, 16);
  double few = read_cycles();
  beside<OP, X><<<1, 1024>>>(d_cycles, d_sink, data, 80);
  double many = read_cycles();
  snprintf(label, sizeof label, "16_ldg+%d_%s", X, name);
  report(label, (many - few) / (64.0 * 32));
}

template <bool RED, int LANES, int WORDS> void measure_send() {
  char label[80];
  for (int blocks : {1, 132}) {
    double few = 0, many = 0;
    for (int r = 0; r < 2; ++r) {
      send<RED, LANES, WORDS><<<blocks, 512>>>(d_cycles, data, 16);
      few = read_cycles(blocks);
      send<RED, LANES, WORDS><<<blocks, 512>>>(d_cycles, data, 80);
      many = read_cycles(blocks);
    }
    snprintf(label, sizeof label, "%s.lanes%d.words%d.blocks%d", RED ? "red" : "stg", LANES, WORDS, blocks);
    report(label, (many - few) / (64.0 * 8 * 16 * 32 / LANES));
  }
}

int main() {
  CHECK(cudaMalloc(&d_cycles, 4096 * sizeof(long long)));
  CHECK(cudaMalloc(&d_sink, 1 << 20));
  CHECK(cudaMalloc(&data, 1 << 26));
  CHECK(cudaMemset(data, 0, 1 << 26));
  char label[80];
  printf("{\n");
  const int PLACES = 32, WORDS = 4096;
  std::vector<unsigned> itself(PLACES * WORDS);
  for (size_t k = 0; k < itself.size(); ++k) itself[k] = unsigned(k % WORDS);
  CHECK(cudaMemcpy(data, itself.data(), itself.size() * 4, cudaMemcpyHostToDevice));
  for (int warps : {1, 32})
    for (unsigned stride : {0, 1, 8, 32}) {
      double sum = 0;
      for (int place = 0; place < PLACES; ++place) {
        chase<4><<<1, 32 * warps>>>(d_cycles, d_sink, data + place * WORDS, stride);
        double few = read_cycles();
        chase<20><<<1, 32 * warps>>>(d_cycles, d_sink, data + place * WORDS, stride);
        sum += read_cycles() - few;
      }
      snprintf(label, sizeof label, "ldg_l2.warps%d.stride%u", warps, stride);
      report(label, sum / (128.0 * warps * PLACES));
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
  printf("\n}\n");
  return 0;
}
