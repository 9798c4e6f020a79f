// The published reductions at four sizes, with the data of the committed counters: nothing is fitted to them.
// Usage: reductions [ROUNDS [POWER]]: so many times, up to 2^POWER words.
#include "../../data/sass/kernels.cu"
#include "common.cuh"

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1, largest = argc > 2 ? atoi(argv[2]) : 26;
  for (int launched = 0; launched < rounds * 4; ++launched) {
    const int power = 20 + launched % 4 * 2;
    if (power > largest) continue;
    const int n = 1 << power, block = 512;
    int *data = allocate<int>(n), *sums = allocate<int>(n);
    const std::vector<int> values = Numbers().bytes<int>(n);
    auto run = [&](auto kernel, int chunks) {
      upload(data, values);
      kernel<<<n / block / chunks, block>>>(data, sums, n);
    };
    run(reduceNeighbored, 1);
    run(reduceNeighboredLess, 1);
    run(reduceInterleaved, 1);
    run(reduceUnrolling2, 2);
    run(reduceUnrolling4, 4);
    run(reduceUnrolling8, 8);
    run(reduceUnrollWarps8, 8);
    run(reduceCompleteUnrollWarps8, 8);
    run(reduceCompleteUnroll<512>, 8);
    finish();
    CHECK(cudaFree(data));
    CHECK(cudaFree(sums));
  }
  return 0;
}
