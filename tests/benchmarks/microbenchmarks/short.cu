// Short launches, even and uneven ones: rows and columns of few to many blocks, words that many blocks or lone lanes use,
// loads that wait for each other, small matrices; by Nsight Compute, from cold caches or, with an argument, each twice.
#include "common.cuh"

// Each thread adds READS words of its row, and stores a word or not.
template <int READS, bool WRITES> __global__ void rows(const unsigned *a, const unsigned *b, unsigned *to, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
  if (i >= n) return;
  if (READS) x = a[i];
  if (READS > 1) x += b[i];
  if (WRITES || x == 77) to[i] = x;
}

// The same with lanes in a column: of `side` rows and columns.
template <int READS, bool WRITES>
__global__ void columns(const unsigned *a, const unsigned *b, unsigned *to, unsigned side) {
  unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= side || column >= side) return;
  unsigned i = row * side + column, x = i;
  if (READS) x = a[i];
  if (READS > 1) x += b[i];
  if (WRITES || x == 77) to[i] = x;
}

enum { LOAD, STORE, BOTH };

template <int HOW> __device__ __forceinline__ void use(const unsigned *from, unsigned *to) {
  unsigned x = threadIdx.x;
  if (HOW == LOAD) x = *from;
  if (HOW == BOTH) x = *from + *to;
  if (HOW != LOAD || x == 77) *to = x;
}

// Each thread uses the word whose number is the product of those of its block and itself, up to `most`.
template <int HOW>
__global__ void products(const unsigned *from, unsigned *to, unsigned first, unsigned apart, unsigned most) {
  unsigned i = (blockIdx.x + first) * (threadIdx.x + first);
  if (i < most) use<HOW>(from + i * apart, to + i * apart);
}

// The first `lanes` threads of each block use words of their own, blocks `apart` words apart.
template <int HOW> __global__ void some(const unsigned *from, unsigned *to, unsigned lanes, unsigned apart) {
  if (threadIdx.x >= lanes) return;
  unsigned i = blockIdx.x * apart + threadIdx.x;
  use<HOW>(from + i, to + i);
}

// Each warp loads `trips` words, each when it has the one before, `step` words apart; blocks are `apart` words apart.
__global__ void chase(const unsigned *from, unsigned *to, unsigned trips, unsigned step, unsigned apart) {
  const unsigned *at = from + blockIdx.x * apart + threadIdx.x;
  unsigned x = 0;
#pragma unroll 1
  for (unsigned k = 0; k < trips; ++k, at += step) x = at[x];
  if (x == 77) to[0] = x;
}

__global__ void multiplied(const unsigned *a, const unsigned *b, unsigned *to, unsigned n) {
  unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  if (row >= n || column >= n) return;
  for (unsigned k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  to[row * n + column] = sum;
}

// A tile of 32 x 32 words turned in shared memory.
__global__ void turned(const unsigned *from, unsigned *to) {
  __shared__ unsigned tile[32][33];
  unsigned n = gridDim.x * 32, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += blockDim.y) tile[threadIdx.y + k][threadIdx.x] = from[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += blockDim.y) to[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Lanes with odd numbers do something else to their words.
__global__ void apart(unsigned *data) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2) data[i] += 1;
  else data[i] *= 2;
}

int main(int argc, char **) {
  unsigned *a = allocate<unsigned>(1 << 24), *b = allocate<unsigned>(1 << 24), *to = allocate<unsigned>(1 << 24);
  auto again = [&](auto launch) {
    for (int k = 0; k < (argc > 1 ? 2 : 1); ++k) launch();
    finish();
  };
  for (unsigned threads : {256u, 1024u})
    for (unsigned n = 1 << 14; n <= 1 << 22; n *= 2) {
      again([&] { rows<2, true><<<n / threads, threads>>>(a, b, to, n); });
      again([&] { rows<2, false><<<n / threads, threads>>>(a, b, to, n); });
      if (threads == 1024) continue;
      again([&] { rows<1, false><<<n / threads, threads>>>(a, b, to, n); });
      again([&] { rows<0, true><<<n / threads, threads>>>(a, b, to, n); });
    }
  for (unsigned side : {128u, 350u, 512u, 700u, 704u, 1024u})
    for (unsigned height : {8u, 32u}) {
      dim3 grid((side + 31) / 32, (side + height - 1) / height), block(32, height);
      again([&] { columns<2, true><<<grid, block>>>(a, b, to, side); });
      if (height == 8) continue;
      again([&] { columns<2, false><<<grid, block>>>(a, b, to, side); });
      again([&] { columns<1, false><<<grid, block>>>(a, b, to, side); });
      again([&] { columns<0, true><<<grid, block>>>(a, b, to, side); });
    }
  for (unsigned first : {0u, 1u})
    for (unsigned apart : {1u, 8u, 32u, 256u, 260u}) {
      again([&] { products<LOAD><<<4092, 256>>>(a, to, first, apart, 16384); });
      again([&] { products<STORE><<<4092, 256>>>(a, to, first, apart, 16384); });
      again([&] { products<BOTH><<<4092, 256>>>(a, to, first, apart, 16384); });
    }
  for (unsigned lanes : {0u, 1u, 32u, 128u})
    for (unsigned apart : {0u, 1u, 32u, 256u, 1024u}) {
      if (lanes == 0 && apart) continue;
      again([&] { some<LOAD><<<4096, 256>>>(a, to, lanes, apart); });
      again([&] { some<STORE><<<4096, 256>>>(a, to, lanes, apart); });
      again([&] { some<BOTH><<<4096, 256>>>(a, to, lanes, apart); });
    }
  for (unsigned blocks : {1u, 49u, 132u})
    for (unsigned step : {8u, 16u, 32u, 64u, 100u, 256u, 1024u})
      for (unsigned apart : {0u, 64u * 1024})
        if (blocks > 1 || apart == 0) again([&] { chase<<<blocks, 32>>>(a, to, 64, step, apart); });
  for (unsigned n : {64u, 96u, 100u, 128u, 160u}) {
    unsigned blocks = (n + 15) / 16;
    again([&] { multiplied<<<dim3(blocks, blocks), dim3(16, 16)>>>(a, b, to, n); });
  }
  for (unsigned tiles : {8u, 16u, 32u})
    for (unsigned height : {8u, 32u}) again([&] { turned<<<dim3(tiles, tiles), dim3(32, height)>>>(a, to); });
  for (unsigned blocks : {512u, 1024u, 4096u}) again([&] { apart<<<blocks, 256>>>(a); });
  return 0;
}
