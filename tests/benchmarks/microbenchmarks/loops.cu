// Steady loops that Nsight Compute times at several occupancies: branches, barriers, conversions, shared memory, L1.
// The model's constants of control flow, queues and barriers are fitted to them.
#include "common.cuh"

// One add and a loop that is not unrolled.
extern "C" __global__ void plainLoop(unsigned *out, int trips) {
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) x = x * 3 + i;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// The same with 24 dependent multiply-adds a trip.
extern "C" __global__ void longLoop(unsigned *out, unsigned y, int trips) {
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < 24; ++k) x = x * y + i;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Independent integer operations on the ALU.
extern "C" __global__ void aluLoop(unsigned *out, unsigned y, int trips) {
  unsigned a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      a = __funnelshift_l(a, b, y);
      b = (b & a) ^ y;
      c = __funnelshift_l(c, d, y);
      d = (d & c) ^ y;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

// A branch that every warp takes or does not take as a whole.
extern "C" __global__ void uniformBranch(unsigned *out, unsigned warps, int trips) {
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    if (threadIdx.x / 32 < warps) {
#pragma unroll
      for (int k = 0; k < 16; ++k) x = x * 3 + i;
      asm volatile("" ::: "memory");
    }
    x ^= i;
    __syncwarp();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// A branch that diverges in every warp.
extern "C" __global__ void divergentBranch(unsigned *out, unsigned lanes, int trips) {
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    if (threadIdx.x % 32 < lanes) {
#pragma unroll
      for (int k = 0; k < 16; ++k) x = x * 3 + i;
      asm volatile("" ::: "memory");
    }
    x ^= i;
    __syncwarp();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Barriers with a little work between them.
extern "C" __global__ void barrierLoop(unsigned *out, unsigned y, int trips) {
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) x = x * y + i;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Barriers where one warp has more to do.
extern "C" __global__ void unevenBarrier(unsigned *out, unsigned y, int trips) {
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    if (threadIdx.x / 32 == i % 16) {
#pragma unroll
      for (int k = 0; k < 32; ++k) x = x * y + i;
      asm volatile("" ::: "memory");
    }
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Conversions and a reciprocal, one after the other.
extern "C" __global__ void convertLoop(unsigned *out, unsigned y, int trips) {
  unsigned x = threadIdx.x + y;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    float f = __uint2float_ru(x), r;
    asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(f));
    x = __float2uint_rz(r * 4e9f) + 1;
#pragma unroll
    for (int k = 0; k < 8; ++k) x = x * y + i;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Shared memory: load, add, store.
extern "C" __global__ void sharedLoop(unsigned *out, int trips) {
  __shared__ unsigned data[1024];
  data[threadIdx.x] = threadIdx.x;
  data[threadIdx.x + 512] = threadIdx.x;
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    *(volatile unsigned *)&data[threadIdx.x] += *(volatile unsigned *)&data[threadIdx.x + 256];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x];
}

// Global memory that stays in L1: load, add, store to the thread's own word.
extern "C" __global__ void l1Loop(unsigned *data, int trips) {
  unsigned *mine = data + blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    mine[0] += i;
    asm volatile("" ::: "memory");
  }
}

// Global memory that stays in L1, read only, eight loads a trip.
extern "C" __global__ void l1Read(const unsigned *data, unsigned *out, unsigned stride, int trips) {
  const unsigned *mine = data + blockIdx.x * 1024 + threadIdx.x % 32 * stride;
  unsigned x = 0;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    const unsigned *place = mine + (i & 7) * 32;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      unsigned v;
      asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(place + k));
      x += v;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Stores, eight a trip.
extern "C" __global__ void storeLoop(unsigned *data, unsigned stride, int trips) {
  unsigned *mine = data + (blockIdx.x * blockDim.x + threadIdx.x / 32 * 32 + threadIdx.x % 32) * stride;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) asm volatile("st.global.u32 [%0], %1;" ::"l"(mine), "r"(i + k) : "memory");
  }
}

// A tree over the block's own words in L1: load, add, store under a shrinking guard, a barrier each round.
extern "C" __global__ void treeLoop(unsigned *data, int trips) {
  unsigned *mine = data + blockIdx.x * blockDim.x;
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    if (threadIdx.x < 256u >> (i & 7)) mine[threadIdx.x] += mine[threadIdx.x + 256];
    __syncthreads();
  }
}

int main() {
  unsigned *data = allocate<unsigned>(1 << 26);
  for (int blocks : {132, 528})
    for (int threads : {128, 512}) {
      plainLoop<<<blocks, threads>>>(data, 1024);
      longLoop<<<blocks, threads>>>(data, 3, 256);
      aluLoop<<<blocks, threads>>>(data, 3, 256);
      uniformBranch<<<blocks, threads>>>(data, 0, 512);
      uniformBranch<<<blocks, threads>>>(data, 64, 256);
      divergentBranch<<<blocks, threads>>>(data, 0, 512);
      divergentBranch<<<blocks, threads>>>(data, 8, 256);
      barrierLoop<<<blocks, threads>>>(data, 3, 256);
      unevenBarrier<<<blocks, threads>>>(data, 3, 256);
      convertLoop<<<blocks, threads>>>(data, 3, 256);
      sharedLoop<<<blocks, threads>>>(data, 512);
      l1Loop<<<blocks, threads>>>(data, 256);
      l1Read<<<blocks, threads>>>(data, data + (1 << 24), 1, 256);
      l1Read<<<blocks, threads>>>(data, data + (1 << 24), 8, 64);
      storeLoop<<<blocks, threads>>>(data, 1, 64);
      storeLoop<<<blocks, threads>>>(data, 8, 16);
      treeLoop<<<blocks, threads>>>(data, 256);
    }
  finish();
  return 0;
}
