// What calls of the system take: malloc and free by one thread, by a lane of each warp and by all, of several sizes, alone
// and with many at once; printf; waits by nanosleep.  By Nsight Compute.
#include "common.cuh"

// Whether a thread calls: the first *lanes* of each warp; 0: the first thread of the block.
__device__ __forceinline__ bool calls(unsigned lanes) { return lanes ? threadIdx.x % 32 < lanes : threadIdx.x == 0; }

__global__ void give(void **given, unsigned lanes, unsigned bytes) {
  if (calls(lanes)) given[blockIdx.x * blockDim.x + threadIdx.x] = malloc(bytes);
}

__global__ void take(void **given, unsigned lanes) {
  if (calls(lanes)) free(given[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void pairs(void **given, unsigned lanes, unsigned bytes, unsigned trips) {
  void *volatile *own = given + blockIdx.x * blockDim.x + threadIdx.x;
  if (calls(lanes))
#pragma unroll 1
    for (unsigned k = 0; k < trips; ++k) {
      *own = malloc(bytes);
      free(*own);
    }
}

template <int KIND> __global__ void says(unsigned lanes, double x) {
  if (!calls(lanes)) return;
  if (KIND == 0) printf("x\n");
  if (KIND == 1) printf("thread %d\n", threadIdx.x);
  if (KIND == 2) printf("thread %d of block %d has %f and %f\n", threadIdx.x, blockIdx.x, x, 2 * x);
  if (KIND == 3) printf("thread %d says %s\n", threadIdx.x, "what it has to say");
}

__global__ void sleeps(unsigned *out, unsigned ns, unsigned trips) {
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k) __nanosleep(ns);
  out[blockIdx.x * blockDim.x + threadIdx.x] = ns;
}

struct Shape {
  unsigned blocks, threads, lanes;
};

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 256 << 20));
  void **given = allocate<void *>(1 << 19);
  auto both = [&](Shape s, unsigned bytes) {
    give<<<s.blocks, s.threads>>>(given, s.lanes, bytes), finish();
    take<<<s.blocks, s.threads>>>(given, s.lanes), finish();
  };
  for (unsigned bytes : {16u, 256u, 1024u, 4096u, 65536u})
    for (unsigned lanes : {1u, 8u, 32u}) both({1, 32, lanes}, bytes);
  for (unsigned bytes : {64u, 1024u, 4096u})
    for (Shape s : {Shape{2, 32, 1}, {8, 32, 1}, {1, 1024, 1}, {33, 32, 1}, {132, 32, 1}, {264, 32, 1}, {132, 32, 32}}) both(s, bytes);
  for (Shape s : {Shape{132, 256, 1}, {264, 1024, 0}}) both(s, 64), both(s, 4096);
  both({132, 32, 1}, 65536);
  for (unsigned bytes : {64u, 4096u})
    for (Shape s : {Shape{1, 32, 1}, {132, 32, 1}, {132, 32, 32}}) pairs<<<s.blocks, s.threads>>>(given, s.lanes, bytes, 4), finish();
  for (Shape s : {Shape{1, 32, 1}, {1, 32, 8}, {1, 32, 32}, {8, 32, 1}, {1, 256, 1}, {132, 32, 1}, {132, 256, 1}, {132, 32, 32}, {264, 256, 0}})
    says<1><<<s.blocks, s.threads>>>(s.lanes, 1.5), finish();
  for (unsigned lanes : {1u, 32u}) {
    says<0><<<1, 32>>>(lanes, 1.5), finish();
    says<2><<<1, 32>>>(lanes, 1.5), finish();
    says<3><<<1, 32>>>(lanes, 1.5), finish();
  }
  for (unsigned ns : {0u, 20u, 40u, 100u, 300u, 1000u, 10000u}) sleeps<<<132, 64>>>((unsigned *)given, ns, 16), finish();
  return 0;
}
