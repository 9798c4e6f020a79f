// How long steps of the oldest block of an SM take while the three others do something else, by its own clock.
// Prints one JSON object: mean cycles of a step over the SMs.
#include "common.cuh"

enum Work { NOTHING, BARRIERS, TREE, ROUNDS, ADDS, ADDS1, LOADS, LOADS1 };
const char *NAMES[] = {"nothing", "barriers", "tree", "rounds", "adds", "adds1", "loads", "loads1"};
constexpr unsigned BEGIN = 5000, END = 60000;  // of what is timed, at the earliest, and of what the others do

// Steps of some work; *mine* has 512 words of the block.
template <int WORK> __device__ __forceinline__ unsigned trip(int *mine, unsigned x) {
  unsigned tid = threadIdx.x;
  if (WORK == BARRIERS) {
#pragma unroll
    for (int k = 0; k < 8; ++k) __syncthreads();
  }
  if (WORK == TREE) {  // of a reduction
#pragma unroll
    for (int stride = 256; stride > 0; stride >>= 1) {
      if (tid < stride) mine[tid] += mine[tid + stride];
      __syncthreads();
    }
  }
  if (WORK == ROUNDS) {  // the first of such a tree, over and over
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (tid < 256) mine[tid] += mine[tid + 256];
      __syncthreads();
    }
  }
  if (WORK == ADDS || (WORK == ADDS1 && tid < 32)) {
#pragma unroll
    for (int k = 0; k < 64; ++k) asm volatile("{.reg .u32 t; xor.b32 t, %0, 85; add.u32 %0, t, 3;}" : "+r"(x));
  }
  if (WORK == LOADS || (WORK == LOADS1 && tid < 32)) {
#pragma unroll
    for (int k = 0; k < 8; ++k)
      asm volatile("{.reg .u64 t; mad.wide.u32 t, %0, 4, %1; ld.global.ca.u32 %0, [t];}"
                   : "+r"(x)
                   : "l"(mine + tid)
                   : "memory");
  }
  return x;
}

template <int SELF, int OTHER>
__global__ void __launch_bounds__(512, 4) beside(unsigned *cycles, int *data, unsigned trips) {
  __shared__ unsigned slot;
  unsigned tid = threadIdx.x, sm = own_sm(), warp = own_place(), x = 0;
  if (tid == 0) slot = warp / 16;  // the block's place: in the first wave, 0 is the oldest
  __syncthreads();
  unsigned start = now();
  int *mine = data + blockIdx.x * 512;
  mine[tid] = 0;
  x = mine[tid];
  if (slot == 0) {
    while (now() - start < BEGIN) {
    }
    __syncthreads();
    x = trip<SELF>(mine, x);
    unsigned before = now();
    for (unsigned k = 0; k < trips; ++k) x = trip<SELF>(mine, x);
    unsigned after = now();
    if (tid == 0) cycles[sm * 2] = after - before, cycles[sm * 2 + 1] = after - start;
  } else if (OTHER != NOTHING) {
    while (__syncthreads_or(tid == 0 && now() - start < END))
      for (int k = 0; k < 8; ++k) x = trip<OTHER>(mine, x);
  }
  if (x == 12345678) cycles[2 * SMS + tid] = x;
}

template <int SELF, int OTHER> void measure(unsigned trips) {
  unsigned *cycles = allocate<unsigned>(2 * SMS + 512);
  int *data = allocate<int>(4 * SMS * 512);
  double sum = 0;
  bool alone = false;
  for (int round = 0; round < 4; ++round) {
    beside<SELF, OTHER><<<4 * SMS, 512>>>(cycles, data, trips);
    const std::vector<unsigned> found = download(cycles, 2 * SMS);
    for (int sm = 0; sm < SMS; ++sm) {
      alone |= found[2 * sm + 1] > END;
      if (round) sum += found[2 * sm];
    }
  }
  if (alone) fprintf(stderr, "%s beside %s: the others ended\n", NAMES[SELF], NAMES[OTHER]);
  const int steps = SELF == ADDS || SELF == ADDS1 ? 128 : SELF == TREE ? 9 : 8;
  report(sum / 3 / SMS / trips / steps, "%s.beside_%s", NAMES[SELF], NAMES[OTHER]);
  cudaFree(cycles), cudaFree(data);
}

template <int SELF> void measure_all(unsigned trips) {
  measure<SELF, NOTHING>(trips);
  measure<SELF, BARRIERS>(trips);
  measure<SELF, TREE>(trips);
  measure<SELF, ROUNDS>(trips);
  measure<SELF, ADDS>(trips);
  measure<SELF, LOADS>(trips);
}

int main() {
  measure_all<BARRIERS>(32);
  measure_all<TREE>(10);
  measure_all<ROUNDS>(12);
  measure_all<ADDS>(8);
  measure_all<ADDS1>(10);
  measure_all<LOADS1>(24);
  end_report();
}
