// What `simt calibrate` measures.  Each kernel notes, per block, %clock64 and %globaltimer at its start and its end.

__device__ unsigned long long now() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

struct Watch {
  long long clocks;
  unsigned long long nanoseconds;
  __device__ Watch() : clocks(clock64()), nanoseconds(now()) {}
  __device__ void stop(long long *times) const {
    if (threadIdx.x) return;
    long long *mine = times + 4 * blockIdx.x;
    mine[0] = clocks;
    mine[1] = clock64();
    mine[2] = nanoseconds;
    mine[3] = now();
  }
};

template <typename Step> __device__ unsigned follow(unsigned at, unsigned steps, Step step) {
#pragma unroll 8
  for (unsigned i = 0; i < steps; ++i) at = step(at);
  return at;
}

#define CHASE(NAME, STEP)                                                                                     \
  extern "C" __global__ void NAME(unsigned *next, const unsigned *starts, unsigned warm, unsigned steps, unsigned *out, \
                                  long long *times) {                                                          \
    unsigned at = follow(starts[blockIdx.x], warm, [=](unsigned at) { STEP; });                                 \
    Watch watch;                                                                                               \
    at = follow(at, steps, [=](unsigned at) { STEP; });                                                         \
    watch.stop(times);                                                                                         \
    out[threadIdx.x] = at;                                                                                     \
  }

// Each step waits for the one before: next[i] is the place of the word to read after word i.
CHASE(chase_l1, unsigned v; asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(next + at)); return v)
CHASE(chase_l2, unsigned v; asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(next + at)); return v)
CHASE(chase_atomic, return atomicAdd(next + at, 0u))

extern "C" __global__ void chase_shared(unsigned *next, unsigned warm, unsigned steps, unsigned *out, long long *times) {
  __shared__ unsigned there[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) there[i] = next[i];
  __syncthreads();
  unsigned at = follow(0, warm, [&](unsigned at) { return there[at]; });
  Watch watch;
  at = follow(at, steps, [&](unsigned at) { return there[at]; });
  watch.stop(times);
  out[threadIdx.x] = at;
}

#define CHAIN(NAME, TYPE, STEP)                                                                          \
  extern "C" __global__ void NAME(TYPE factor, unsigned steps, TYPE *out, long long *times) {            \
    TYPE x = factor;                                                                                     \
    Watch watch;                                                                                         \
    _Pragma("unroll 16") for (unsigned i = 0; i < steps; ++i) x = STEP;                                   \
    watch.stop(times);                                                                                   \
    out[threadIdx.x] = x;                                                                                \
  }

// Each step waits for the one before.
CHAIN(chain_fma, float, fmaf(x, factor, factor))
CHAIN(chain_imad, unsigned, x * factor + factor)

// All blocks together read, copy or write `count` vectors of 16 bytes, each once.
extern "C" __global__ void stream_read(const uint4 *data, unsigned count, unsigned *out, long long *times) {
  Watch watch;
  unsigned sum = 0;
#pragma unroll 4
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    uint4 v = data[i];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == count) *out = sum;  // never: the data are zeros
  __syncthreads();
  watch.stop(times);
}

extern "C" __global__ void stream_copy(const uint4 *data, unsigned count, uint4 *out, long long *times) {
  Watch watch;
#pragma unroll 4
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) out[i] = data[i];
  __syncthreads();
  watch.stop(times);
}

extern "C" __global__ void stream_write(uint4 *data, unsigned count, unsigned value, long long *times) {
  Watch watch;
#pragma unroll 4
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    data[i] = make_uint4(value, value, value, value);
  __syncthreads();
  watch.stop(times);
}

// Each block reads, or writes, so many vectors past L1: its own `mine` (a power of two), round and round.
extern "C" __global__ void read_l2(const uint4 *data, unsigned mine, unsigned vectors, unsigned *out, long long *times) {
  Watch watch;
  unsigned sum = 0;
  data += blockIdx.x * mine;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(data + (i & (mine - 1))));
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == vectors) *out = sum;  // never: the data are zeros
  __syncthreads();
  watch.stop(times);
}

extern "C" __global__ void write_l2(uint4 *data, unsigned mine, unsigned vectors, unsigned value, long long *times) {
  Watch watch;
  data += blockIdx.x * mine;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x)
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(data + (i & (mine - 1))), "r"(value) : "memory");
  __syncthreads();
  watch.stop(times);
}

// A short launch, of one word a thread.
extern "C" __global__ void words(const float *data, float *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[i] + 1;
}
