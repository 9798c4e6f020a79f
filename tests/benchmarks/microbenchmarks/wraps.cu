// Words a stride apart that go round a table: what L2 keeps of them and how many it delivers; volumes in blocks that
// share lines; short sums of arrays; by Nsight Compute.
#include "common.cuh"

__device__ __forceinline__ unsigned load(const unsigned *from) {
  unsigned x;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
  return x;
}

// Each thread loads a word, `stride` words behind that of the thread before, round a table of n words; with STORES it
// stores it, else keeps it if it is one that does not occur.
template <bool STORES> __global__ void wrap(const unsigned *from, unsigned *to, unsigned stride, unsigned n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, x = load(from + t * stride % n);
  if (STORES) to[t] = x;
  else if (x == 77) *to = x;
}

// Each block loads its part of n pieces of 16 bytes, `passes` times; with SHIFT in each pass that of another block.
template <bool SHIFT> __global__ void passes(const uint4 *from, unsigned n, unsigned passes, unsigned *to) {
  unsigned sum = 0, part = n / gridDim.x;
  for (unsigned p = 0; p < passes; ++p) {
    unsigned block = SHIFT ? (blockIdx.x + 37 * p) % gridDim.x : blockIdx.x;
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < part; k += blockDim.x) sum += __ldcg(from + (size_t)block * part + k).x;
  }
  if (sum == 77) *to = sum;
}

// The sum of two volumes, x fastest, which the blocks of the grid need not fill.
__global__ void volume(const float *a, const float *b, float *c, unsigned nx, unsigned ny, unsigned nz) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) c[(z * ny + y) * nx + x] = a[(z * ny + y) * nx + x] + b[(z * ny + y) * nx + x];
}

// The sum of two arrays of n elements.
template <class T> __global__ void add(const T *a, const T *b, T *c, unsigned n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) c[t] = a[t] + b[t];
}

template <class T> void adds(const T *a, T *c) {
  for (unsigned n : {1 << 16, 1 << 17, 320000, 1 << 19, 1000000, 1 << 21})
    for (unsigned threads : {128, 256, 512, 1024}) add<T><<<(n + threads - 1) / threads, threads>>>(a, a + (1 << 21), c, n);
}

void volumes(const float *from, float *to, dim3 n, dim3 block) {
  dim3 grid((n.x + block.x - 1) / block.x, (n.y + block.y - 1) / block.y, (n.z + block.z - 1) / block.z);
  volume<<<grid, block>>>(from, from + n.x * n.y * n.z, to, n.x, n.y, n.z);
}

int main() {
  const unsigned MI = 1 << 20;
  unsigned *from = allocate<unsigned>(16 * MI + (1 << 23)), *to = allocate<unsigned>(16 * MI);
  // Rounds of reads: stride 32 words is a sector of each line, 16 two, 8 all.
  for (unsigned mib : {8, 16, 20, 24, 28, 32, 36, 40, 48, 64}) wrap<false><<<8 * mib * 32, 256>>>(from, to, 32, mib * (MI / 4));
  for (unsigned mib : {16, 24, 32, 40, 48}) {
    wrap<false><<<4 * mib * 128, 256>>>(from, to, 8, mib * (MI / 4));
    wrap<false><<<4 * mib * 64, 256>>>(from, to, 16, mib * (MI / 4));
    wrap<false><<<8 * mib * 16, 256>>>(from, to, 64, mib * (MI / 4));
  }
  for (unsigned mib : {16, 24, 32, 40}) wrap<true><<<8 * mib * 32, 256>>>(from, to, 32, mib * (MI / 4));
  wrap<true><<<39063, 256>>>(from, to, 32, 10000000);
  wrap<true><<<16384, 256>>>(from, to, 32, 1 << 22);
  // What L2 holds: how many words it delivers.
  for (unsigned stride : {8, 16, 24, 32, 33, 40, 48, 64, 96, 128, 136, 256, 1024}) wrap<false><<<8192, 256>>>(from, to, stride, 1 << 20);
  for (unsigned stride : {8, 32, 33, 64, 128}) wrap<false><<<8192, 256>>>(from, to, stride, 1 << 18);
  for (unsigned mib : {8, 16, 24, 28, 32, 36, 40, 48}) {
    passes<false><<<132, 1024>>>((const uint4 *)from, mib * (MI / 16), 3, to);
    passes<true><<<132, 1024>>>((const uint4 *)from, mib * (MI / 16), 3, to);
  }
  const float *a = (const float *)from;
  float *c = (float *)to;
  volumes(a, c, dim3(100, 100, 800), dim3(16, 8, 8));
  volumes(a, c, dim3(100, 100, 200), dim3(16, 8, 8));
  volumes(a, c, dim3(128, 100, 400), dim3(16, 8, 8));
  volumes(a, c, dim3(128, 128, 256), dim3(8, 8, 8));
  volumes(a, c, dim3(100, 100, 400), dim3(8, 8, 8));
  volumes(a, c, dim3(100, 100, 400), dim3(4, 4, 4));
  volumes(a, c, dim3(256, 128, 128), dim3(32, 4, 4));
  volumes(a, c, dim3(100, 100, 400), dim3(32, 4, 2));
  volumes(a, c, dim3(1000, 4000, 1), dim3(16, 16, 1));
  volumes(a, c, dim3(1000, 4000, 1), dim3(10, 10, 1));
  adds<float>(a, c);
  adds<double>((const double *)a, (double *)c);
  finish();
  return 0;
}
