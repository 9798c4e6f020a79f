// Data of rows and columns of blocks that L2 cannot hold (tiled products), lines of which small blocks store a part each
// (stencils in three dimensions, filters that leave out the edges of their tiles): DRAM's bytes, by Nsight Compute.
#include "common.cuh"
#include "tiled.cuh"

// The product of tiled.cuh by tiles of 64 x 64 of 256 threads, 16 numbers each.
__global__ void blocked(const float *a, const float *b, float *c, unsigned n, unsigned k) {
  __shared__ float as[16][64], bs[16][64];
  unsigned t = threadIdx.x, x = t % 16, y = t / 16;
  float sum[4][4] = {};
  for (unsigned i = 0; i < k; i += 16) {
    for (unsigned p = 0; p < 4; ++p) {
      as[x][y + 16 * p] = a[(size_t)(blockIdx.y * 64 + y + 16 * p) * k + i + x];
      bs[y][x + 16 * p] = b[(size_t)(i + y) * n + blockIdx.x * 64 + x + 16 * p];
    }
    __syncthreads();
    for (unsigned j = 0; j < 16; ++j)
      for (unsigned p = 0; p < 4; ++p)
        for (unsigned q = 0; q < 4; ++q) sum[p][q] += as[j][y + 16 * p] * bs[j][x + 16 * q];
    __syncthreads();
  }
  for (unsigned p = 0; p < 4; ++p)
    for (unsigned q = 0; q < 4; ++q) c[(size_t)(blockIdx.y * 64 + y + 16 * p) * n + blockIdx.x * 64 + x + 16 * q] = sum[p][q];
}

// The same without tiles.
__global__ void plain(const float *a, const float *b, float *c, unsigned n, unsigned k) {
  unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + column];
  c[(size_t)row * n + column] = sum;
}

// A cube's inner points, of n to a side: each from its seven neighbours, or (not READS) a number.
template <bool READS> __global__ void stencil(const float *in, float *out, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
           z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  unsigned at = (z * n + y) * n + x;
  if (READS)
    out[at] = in[at] + in[at - 1] + in[at + 1] + in[at - n] + in[at + n] + in[at - n * n] + in[at + n * n];
  else
    out[at] = x;
}

// A picture of words or bytes by tiles of `tile` columns and rows: each block stores what is `edge` inside its own.
template <class V> __global__ void inner(const V *in, V *out, unsigned width, unsigned height, unsigned edge) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height && threadIdx.x >= edge && threadIdx.y >= edge) out[y * width + x] = in[y * width + x] + 1;
}

int main() {
  float *a = allocate<float>(1 << 25), *b = allocate<float>(1 << 25), *c = allocate<float>(1 << 25);
  double *da = (double *)a, *db = (double *)b, *dc = (double *)c;
  const dim3 full(32, 32), square(16, 16);
  for (unsigned n : {2048, 2560, 2880, 3584, 4096}) {
    tiled<float, 32><<<dim3(n / 32, 512 / 32), full>>>(a, b, c, n, n);
    tiled<float, 16><<<dim3(n / 16, 512 / 16), square>>>(a, b, c, n, n);
  }
  tiled<float, 32><<<dim3(4096 / 32, 1024 / 32), full>>>(a, b, c, 4096, 4096);
  tiled<float, 16><<<dim3(4096 / 16, 1024 / 16), square>>>(a, b, c, 4096, 4096);
  tiled<float, 16><<<dim3(2048 / 16, 512 / 16), square>>>(a, b, c, 2048, 8192);
  tiled<float, 16><<<dim3(8192 / 16, 512 / 16), square>>>(a, b, c, 8192, 2048);
  for (unsigned shared : {100000, 50000, 25000}) {
    CHECK(cudaFuncSetAttribute(tiled<float, 16>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
    tiled<float, 16><<<dim3(4096 / 16, 512 / 16), square, shared>>>(a, b, c, 4096, 4096);
  }
  for (unsigned n : {1024, 1536, 2048}) tiled<double, 16><<<dim3(n / 16, n / 16), square>>>(da, db, dc, n, n);
  blocked<<<dim3(2048 / 64, 2048 / 64), 256>>>(a, b, c, 2048, 2048);
  blocked<<<dim3(2880 / 64, 2048 / 64), 256>>>(a, b, c, 2880, 2880);
  blocked<<<dim3(4096 / 64, 1024 / 64), 256>>>(a, b, c, 4096, 4096);
  blocked<<<dim3(4096 / 64, 2048 / 64), 256>>>(a, b, c, 4096, 4096);
  for (unsigned n : {2560, 2880, 4096}) {
    plain<<<dim3(n / 32, 512 / 32), full>>>(a, b, c, n, n);
    plain<<<dim3(n / 16, 512 / 16), square>>>(a, b, c, n, n);
  }
  plain<<<dim3(128, 32), full>>>(a, b, c, 4096, 2048);
  plain<<<dim3(64, 64), full>>>(a, b, c, 2048, 2048);
  const unsigned n = 256;
  auto cube = [&](unsigned x, unsigned y, unsigned z, unsigned layers) {
    dim3 block(x, y, z), grid((n + x - 1) / x, (n + y - 1) / y, layers / z);
    stencil<true><<<grid, block>>>(a, c, n);
    stencil<false><<<grid, block>>>(a, c, n);
  };
  cube(5, 5, 1, 64);
  cube(5, 5, 5, 65);
  cube(4, 4, 4, 64);
  cube(3, 3, 3, 63);
  cube(6, 6, 6, 66);
  cube(8, 8, 8, 64);
  cube(10, 10, 10, 70);
  cube(16, 16, 1, 64);
  cube(8, 8, 1, 64);
  cube(32, 8, 1, 64);
  cube(8, 8, 8, 256);
  cube(5, 5, 5, 255);
  auto picture = [&](auto *to, unsigned width, unsigned height, dim3 block, unsigned edge) {
    using V = std::remove_pointer_t<decltype(to)>;
    inner<<<dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y), block>>>((const V *)a, to, width, height, edge);
  };
  using u8 = unsigned char;
  for (unsigned edge : {0, 1}) {
    picture((u8 *)c, 1920, 1080, square, edge);
    picture((u8 *)c, 4096, 1080, square, edge);
    picture((u8 *)c, 4096, 4096, square, edge);
    picture((u8 *)c, 4096, 1080, full, edge);
    picture((unsigned *)c, 1024, 1024, square, edge);
    picture((unsigned *)c, 1920, 1080, square, edge);
    picture((unsigned *)c, 2048, 2048, square, edge);
    picture((unsigned *)c, 1000, 1000, square, edge);
    picture((unsigned *)c, 1920, 1080, full, edge);
  }
  finish();
  return 0;
}
