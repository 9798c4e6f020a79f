// The published reductions at four sizes, with the data of the committed counters: nothing is fitted to them.
// Usage: reductions [ROUNDS [POWER]]: so many times, up to 2^POWER words.
#include "../../data/sass/kernels.cu"
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1, largest = argc > 2 ? atoi(argv[2]) : 26;
  for (int launched = 0; launched < rounds * 4; ++launched) {
    const int power = 20 + launched % 4 * 2;
    if (power > largest) continue;
    const int n = 1 << power, block = 512;
    int *data, *sums;
    cudaMalloc(&data, size_t(n) * 4);
    cudaMalloc(&sums, size_t(n) * 4);
    std::vector<int> values(n);
    unsigned s = 12345;
    for (int i = 0; i < n; ++i) {
      s = 1664525u * s + 1013904223u;
      values[i] = s >> 16 & 255;
    }
    auto fresh = [&] { cudaMemcpy(data, values.data(), size_t(n) * 4, cudaMemcpyHostToDevice); };
    fresh();
    reduceNeighbored<<<n / block, block>>>(data, sums, n);
    fresh();
    reduceNeighboredLess<<<n / block, block>>>(data, sums, n);
    fresh();
    reduceInterleaved<<<n / block, block>>>(data, sums, n);
    fresh();
    reduceUnrolling2<<<n / block / 2, block>>>(data, sums, n);
    fresh();
    reduceUnrolling4<<<n / block / 4, block>>>(data, sums, n);
    fresh();
    reduceUnrolling8<<<n / block / 8, block>>>(data, sums, n);
    fresh();
    reduceUnrollWarps8<<<n / block / 8, block>>>(data, sums, n);
    fresh();
    reduceCompleteUnrollWarps8<<<n / block / 8, block>>>(data, sums, n);
    fresh();
    reduceCompleteUnroll<512><<<n / block / 8, block>>>(data, sums, n);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(sums);
  }
  if (cudaGetLastError() != cudaSuccess) return 1;
  return 0;
}
