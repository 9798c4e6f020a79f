// Words anywhere in arrays of 64 KiB to 64 MiB, loaded, stored and added to by all SMs, by Nsight Compute.
#include "common.cuh"

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void gather(const int *at, const float *from, float *to) {
  int i = THREAD;
  to[i] = from[at[i]];
}

__global__ void gathers(const int *at, const float *from, float *to, int each) {
  float sum = 0;
  for (int k = 0; k < each; k++) sum += from[at[k * gridDim.x * blockDim.x + THREAD]];
  to[THREAD] = sum;
}

__global__ void scatter(const int *at, const float *from, float *to) {
  int i = THREAD;
  to[at[i]] = from[i];
}

__global__ void add(const int *at, const float *from, float *to) {
  int i = THREAD;
  atomicAdd(&to[at[i]], from[i]);
}

// Rows of a sparse matrix, a thread each, of up to 15 numbers.
__global__ void rows(const int *row, const int *column, const float *value, const float *from, float *to) {
  int r = THREAD;
  float sum = 0;
  for (int k = row[r]; k < row[r + 1]; k++) sum += value[k] * from[column[k]];
  to[r] = sum;
}

enum { GATHER, GATHERS, SCATTER, ADD, ROWS };

void launch(int kind, unsigned words, unsigned blocks) {
  unsigned threads = blocks * 256, many = kind == GATHERS || kind == ROWS ? 16 * threads : threads;
  std::vector<int> places(many), begins(threads + 1);
  for (unsigned i = 0; i < many; ++i) places[i] = hashed(i + 7) % words;
  for (unsigned i = 0, k = 0; i <= threads; k += hashed(i++ + 3) % 16) begins[i] = k;
  bool stored = kind == SCATTER || kind == ADD;
  int *at = allocate<int>(many), *row = allocate<int>(threads + 1);
  float *value = allocate<float>(many), *from = allocate<float>(stored ? threads : words);
  float *to = allocate<float>(stored ? words : threads);
  upload(at, places);
  upload(row, begins);
  if (kind == GATHER) gather<<<blocks, 256>>>(at, from, to);
  if (kind == GATHERS) gathers<<<blocks, 256>>>(at, from, to, 16);
  if (kind == SCATTER) scatter<<<blocks, 256>>>(at, from, to);
  if (kind == ADD) add<<<blocks, 256>>>(at, from, to);
  if (kind == ROWS) rows<<<blocks, 256>>>(row, at, value, from, to);
  finish();
  for (void *array : {(void *)at, (void *)row, (void *)value, (void *)from, (void *)to}) CHECK(cudaFree(array));
}

int main() {
  for (int kind : {GATHER, GATHERS, SCATTER, ADD, ROWS})
    for (unsigned words : {1 << 14, 1 << 17, 1 << 20, 1 << 22, 1 << 24})
      for (unsigned blocks : {128, 1024, 4096}) launch(kind, words, blocks);
  return 0;
}
