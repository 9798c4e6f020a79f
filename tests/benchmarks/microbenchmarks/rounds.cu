// Rounds of a block through global memory with a barrier after each, words stored in parts of sectors, pointers anywhere,
// levels of a graph; by Nsight Compute.
#include "common.cuh"

// Each round makes b of a, then they change places: the mean of two words, stored `start` words from the beginning.
__global__ void means(float *a, float *b, int start, int end, int before, int after, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    for (int i = threadIdx.x + start; i < end; i += blockDim.x) b[i] = 0.5f * (a[i + before] + a[i + after]);
    __syncthreads();
    float *t = a;
    a = b;
    b = t;
  }
}

// The same in place, of one word.
__global__ void halves(float *a, int start, int end, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    for (int i = threadIdx.x + start; i < end; i += blockDim.x) a[i] = 0.5f * a[i];
    __syncthreads();
  }
}

// Pairs change places, odd and even ones in turn.
__global__ void pairs(int *a, int n) {
  for (int r = 0; r < n; ++r) {
    int i = 2 * threadIdx.x + (r & 1);
    if (i + 1 < n && a[i] > a[i + 1]) {
      int t = a[i];
      a[i] = a[i + 1];
      a[i + 1] = t;
    }
    __syncthreads();
  }
}

// A table filled along its diagonals.
__global__ void diagonals(const unsigned char *a, const unsigned char *b, int *t, int n) {
  for (int d = 2; d <= 2 * n; ++d) {
    for (int i = threadIdx.x + 1; i <= n; i += blockDim.x) {
      int j = d - i, w = n + 1;
      if (j >= 1 && j <= n)
        t[i * w + j] = a[i - 1] == b[j - 1] ? t[(i - 1) * w + j - 1] + 1 : max(t[(i - 1) * w + j], t[i * w + j - 1]);
    }
    __syncthreads();
  }
}

// Each thread follows pointers.
__global__ void follow(const int *next, int *out, int steps, unsigned lanes) {
  if (threadIdx.x % 32 >= lanes) return;
  int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
  for (int k = 0; k < steps; ++k) at = next[at];
  out[i] = at;
}

// Nodes of a level mark their neighbours, and with MORE a word that all share.
template <int LEVEL, int MORE>
__global__ void mark(const int *rows, const int *cols, int *level, int now, int n, int *more) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || (level[v] & 7) != now) return;
  int found = 0;
  for (int k = rows[v]; k < rows[v + 1]; ++k) {
    int u = cols[k];
    if ((level[u] & 7) > now) {
      if (!LEVEL && !MORE) ++found;
      if (LEVEL) level[u] = now + 1;
      if (MORE) *more = 1;
    }
  }
  if (found == 77) *more = 1;
}

int main() {
  float *a = allocate<float>(1 << 16), *b = allocate<float>(1 << 16);
  auto round = [&](int threads, int start, int end, int before, int after) {
    means<<<1, threads>>>(a, b, start, end, before, after, 50);
  };
  round(256, 1, 2047, -1, 1);
  round(256, 0, 2048, 0, 0);
  round(256, 1, 2047, 0, 0);
  round(256, 4, 2048, 0, 0);
  round(256, 8, 2048, 0, 0);
  round(256, 0, 2048, 1, 2);
  round(256, 0, 2048, 1, 1);
  round(32, 1, 257, -1, 1);
  round(64, 1, 513, -1, 1);
  round(128, 1, 1025, -1, 1);
  round(512, 1, 4095, -1, 1);
  round(1024, 1, 4095, -1, 1);
  round(256, 1, 257, -1, 1);
  round(256, 0, 256, 0, 0);
  round(1024, 1, 1025, -1, 1);
  halves<<<1, 256>>>(a, 1, 2047, 50);
  halves<<<1, 256>>>(a, 0, 2048, 50);
  means<<<64, 256>>>(a, b, 1, 2047, -1, 1, 10);

  std::vector<int> x(1 << 16), level(1 << 16), rows((1 << 16) + 1), cols(1 << 20);
  for (int i = 0; i < 1 << 16; ++i) x[i] = hashed(i + 3) & 0xffff, level[i] = hashed(i + 5) & 7;
  for (int i = 0, at = 0; i <= 1 << 16; ++i) rows[i] = at, at += hashed(i) % 31;
  for (int i = 0; i < 1 << 20; ++i) cols[i] = hashed(i + 9) & 65535;
  int *y = allocate<int>(1 << 16), *r = allocate<int>(rows.size()), *c = allocate<int>(cols.size()), *l = allocate<int>(1 << 16);
  upload(r, rows);
  upload(c, cols);
  for (int threads : {512, 64, 1024}) {
    upload(y, x);
    pairs<<<1, threads>>>(y, threads == 1024 ? 1024 : 2 * threads);
  }
  std::vector<unsigned char> letters(1 << 12);
  for (size_t i = 0; i < letters.size(); ++i) letters[i] = hashed(i + 4) & 255;
  unsigned char *text = allocate<unsigned char>(letters.size());
  upload(text, letters);
  int *table = allocate<int>(1 << 20);
  diagonals<<<1, 256>>>(text, text + 1024, table, 300);
  diagonals<<<1, 64>>>(text, text + 1024, table, 60);
  diagonals<<<1, 32>>>(text, text + 1024, table, 200);

  for (int bits : {20, 16, 24}) {
    size_t words = 1ul << bits;
    std::vector<int> ring(words);
    for (size_t i = 0; i < words; ++i) ring[i] = int((i * 40503u + 12345u) & (words - 1));
    int *next = allocate<int>(words), *out = allocate<int>(1 << 16);
    upload(next, ring);
    follow<<<64, 128>>>(next, out, 64, 32);
    follow<<<64, 128>>>(next, out, 256, 32);
    follow<<<64, 128>>>(next, out, 64, 1);
    follow<<<1, 128>>>(next, out, 64, 32);
    follow<<<1, 32>>>(next, out, 256, 1);
    follow<<<132, 256>>>(next, out, 64, 32);
  }
  int *more = allocate<int>(64);
  for (int blocks : {256, 64}) {
    int n = blocks * 256;
    upload(l, level);
    mark<0, 0><<<blocks, 256>>>(r, c, l, 1, n, more);
    mark<0, 1><<<blocks, 256>>>(r, c, l, 1, n, more);
    mark<1, 0><<<blocks, 256>>>(r, c, l, 1, n, more);
    upload(l, level);
    mark<1, 1><<<blocks, 256>>>(r, c, l, 1, n, more);
  }
  finish();
  return 0;
}
