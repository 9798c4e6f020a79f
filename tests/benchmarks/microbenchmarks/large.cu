// Products whose factors L2 does not hold, which many waves of blocks go through, and streams of SMs that follow each
// other through an array: what DRAM moves, by Nsight Compute.
#include "common.cuh"
#include "tiled.cuh"

// c = a b, a thread for each number of c: n rows and columns, k terms.
template <class V> __global__ void plain(const V *a, const V *b, V *c, unsigned n, unsigned k) {
  unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  V sum = 0;
  for (unsigned i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + column];
  c[(size_t)row * n + column] = sum;
}

// The same, x down the rows.
template <class V> __global__ void down(const V *a, const V *b, V *c, unsigned n, unsigned k) {
  unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  V sum = 0;
  for (unsigned i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + column];
  c[(size_t)row * n + column] = sum;
}

// Which of the streams a block belongs to: of as many blocks each, in no order of the SMs.
__device__ unsigned own_stream(unsigned streams, unsigned &number) {
  unsigned shuffled = blockIdx.x * 37 % gridDim.x;
  number = shuffled / streams;
  return shuffled % streams;
}

// Streams of blocks each load all parts of an array, a part of 16 KiB by one block; each is `behind` parts behind the
// one before, which waits for it.
__global__ void follow(const uint4 *from, unsigned parts, unsigned streams, unsigned behind, volatile unsigned *done,
                       unsigned *to) {
  unsigned number, stream = own_stream(streams, number), blocks = gridDim.x / streams, sum = 0;
  for (unsigned part = number; part < parts; part += blocks) {
    if (threadIdx.x == 0) {
      if (stream > 0)
        while (done[32 * (stream - 1)] < min(part + behind, parts)) __nanosleep(100);
      if (stream + 1 < streams)
        while (done[32 * (stream + 1)] + behind + 2 * blocks < part) __nanosleep(100);
    }
    __syncthreads();
    sum += __ldcg(from + (size_t)part * 1024 + threadIdx.x).x;
    if (sum == 77) *to = sum;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd((unsigned *)done + 32 * stream, 1);
  }
}

template <class V> void products(V *a, V *b, V *c) {
  auto product = [&](auto *kernel, unsigned n, dim3 block) {
    kernel<<<dim3(n / block.x, n / block.y), block>>>(a, b, c, n, n);
  };
  const dim3 square(16, 16), full(32, 32), flat(32, 8);
  if (sizeof(V) == 4) {
    for (unsigned n : {2048, 2560, 2816, 3072, 3584, 4096}) product(plain<V>, n, square);
    for (unsigned n : {2560, 3072, 4096}) product(plain<V>, n, full);
    for (unsigned n : {2560, 3072, 4096}) product(plain<V>, n, flat);
    for (unsigned n : {2560, 3072}) product(down<V>, n, square);
    for (unsigned n : {2560, 3072}) product(down<V>, n, full);
    for (unsigned n : {2560, 3072, 4096}) product(tiled<V, 16>, n, square);
    for (unsigned n : {2560, 3072, 4096}) product(tiled<V, 32>, n, full);
  } else {
    for (unsigned n : {1536, 2048, 3072}) product(plain<V>, n, square);
    for (unsigned n : {2048, 3072}) product(plain<V>, n, full);
  }
}

int main() {
  float *a = allocate<float>(1 << 25), *b = allocate<float>(1 << 25), *c = allocate<float>(1 << 25);
  products(a, b, c);
  products((double *)a, (double *)b, (double *)c);
  finish();
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
  const unsigned parts = 32768;
  uint4 *from = allocate<uint4>((size_t)parts * 1024);
  unsigned *done = allocate<unsigned>(1 << 16), run = 0;
  for (unsigned streams : {1, 2, 3, 4})
    for (unsigned mib : {4, 8, 12, 16, 20, 24, 28, 32, 40}) {
      if (streams == 1 && mib > 4) break;
      follow<<<132 / streams * streams, 1024>>>(from, parts, streams, mib * 64, done + 512 * run++, done + (1 << 15));
    }
  finish();
  return 0;
}
