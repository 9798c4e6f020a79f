// Matrices that are filled, added and transposed by columns: x of the grid goes down the rows, so the threads of a warp
// store to lines far apart; by Nsight Compute.
#include "common.cuh"

enum { NOTHING, ACROSS, SUM };

// Thread (x, y) stores word y of row x: a number, what stands in row y, or the sum of two matrices that lie alike.
template <class T, int READS>
__global__ void columns(T *to, const T *a, const T *b, unsigned pitch, unsigned width, unsigned height) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  size_t i = (size_t)x * pitch + y;
  to[i] = READS == SUM ? a[i] + b[i] : READS == ACROSS ? a[(size_t)y * width + x] : T(i);
}

// A transpose by way of shared memory, with a guard.
template <class T> __global__ void tiles(T *to, const T *from, unsigned n) {
  __shared__ T tile[32][33];
  unsigned x = blockIdx.x * 32, y = blockIdx.y * 32;
  if (x + threadIdx.x < n && y + threadIdx.y < n)
    tile[threadIdx.x][threadIdx.y] = from[(size_t)(y + threadIdx.y) * n + x + threadIdx.x];
  __syncthreads();
  if (x + threadIdx.x < n && y + threadIdx.y < n)
    to[(size_t)(x + threadIdx.y) * n + y + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

// Each block stores a word of each of as many rows as it has threads: the rows of its row of the grid.
template <class T> __global__ void marks(T *to, unsigned pause) {
  size_t row = blockIdx.y * blockDim.x + threadIdx.x;
  long long start = clock64();
  while (clock64() - start < pause) {
  }
  to[row * gridDim.x + blockIdx.x] = T(pause);
}

// Sums of rows, a thread for each word.
__global__ void rows(unsigned *sums, const unsigned *a, const unsigned *x, unsigned n, unsigned words) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < words) atomicAdd(sums + i / n, a[i] * x[i % n]);
}

template <class T, int READS> void fill(dim3 block, unsigned width, unsigned height, unsigned pitch) {
  static T *to = nullptr, *a, *b;
  const size_t room = (size_t)(1 << 28) / sizeof(T);
  if (!to) to = allocate<T>(room), a = allocate<T>(room), b = allocate<T>(room);
  dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  columns<T, READS><<<grid, block>>>(to, a, b, pitch, width, height), finish();
}

int main() {
  using u32 = unsigned;
  const dim3 square(16, 16), wide(32, 8), tall(8, 32), full(32, 32), small(8, 8), low(64, 4);
  for (dim3 block : {square, wide, tall, full, small, low, dim3(16, 32), dim3(16, 4)})
    fill<u32, NOTHING>(block, 1000, 10000, 10000);
  for (u32 pitch : {10001, 10016, 10004}) fill<u32, NOTHING>(square, 1000, 10000, pitch);
  for (dim3 block : {square, wide, full, tall}) fill<u32, NOTHING>(block, 1024, 8192, 8192);
  for (dim3 block : {square, full}) fill<u32, NOTHING>(block, 4096, 4096, 4096);
  for (u32 height : {160, 1000, 2500, 40000}) fill<u32, NOTHING>(square, 1000, height, height);
  for (dim3 block : {square, wide, full}) fill<u32, NOTHING>(block, 10000, 1000, 1000);
  fill<u32, NOTHING>(square, 16, 16, 10000);
  fill<u32, NOTHING>(square, 16, 132 * 16, 10000);
  fill<u32, NOTHING>(square, 16 * 132, 16, 10000);
  fill<u32, NOTHING>(square, 16 * 33, 16 * 32, 10000);
  fill<u32, NOTHING>(tall, 8, 32, 10000);
  fill<double, NOTHING>(square, 1000, 5000, 5000);
  for (u32 n : {512, 1024, 2048})
    for (dim3 block : {square, full, wide}) fill<u32, SUM>(block, n, n, n);
  for (dim3 block : {square, tall, wide}) fill<u32, ACROSS>(block, 4096, 4096, 4096);
  double *to = allocate<double>(1 << 24), *from = allocate<double>(1 << 24);
  for (u32 more : {0, 1}) tiles<<<dim3(128 + more, 128 + more), full>>>(to, from, 4096), finish();
  for (u32 more : {0, 1}) tiles<<<dim3(128 + more, 128 + more), full>>>((float *)to, (float *)from, 4096), finish();
  tiles<<<dim3(64, 64), full>>>(to, from, 2048), finish();
  for (u32 pause : {0, 2000}) marks<<<dim3(187, 187), 64>>>((unsigned long long *)to, pause), finish();
  marks<<<dim3(192, 187), 64>>>((unsigned long long *)to, 2000), finish();
  marks<<<dim3(40, 187), 64>>>((unsigned long long *)to, 2000), finish();
  for (u32 n : {10000, 1000, 100}) rows<<<4096, 256>>>((u32 *)to, (u32 *)from, (u32 *)from + (1 << 21), n, 1 << 20), finish();
  return 0;
}
