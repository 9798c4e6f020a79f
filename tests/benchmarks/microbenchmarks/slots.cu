// Runs kernels whose body slots.py has replaced, and prints their cycles: slots PACK; one block, 1 and 32 warps, clock.
//
// The kernel below is the template: a loop over 256 FFMAs between two readings of the clock.
#include "common.cuh"

constexpr int SLOTS = 256;

extern "C" __global__ void __launch_bounds__(1024) body(unsigned *out, unsigned *sink, float y, float z, int trips) {
  float x[32];
#pragma unroll
  for (int k = 0; k < 32; ++k) x[k] = threadIdx.x * (k + y);
  unsigned t0 = 0, t1 = 0, s0 = 0;
  __syncthreads();
  asm volatile("mov.u32 %0, %%clock;" : "=r"(s0) :: "memory");
#pragma unroll 1
  for (int i = 0; i < trips; ++i) {
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t0) :: "memory");
#pragma unroll
    for (int k = 0; k < SLOTS; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[k % 32]) : "f"(x[(k + 11) % 32]), "f"(x[(k + 22) % 32]));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t1) :: "memory");
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) sum += x[k];
  if (threadIdx.x % 32 == 0) {
    out[threadIdx.x / 32 * 3] = s0;
    out[threadIdx.x / 32 * 3 + 1] = t1;
    out[threadIdx.x / 32 * 3 + 2] = t1 - t0;
  }
  sink[threadIdx.x] = __float_as_uint(sum);
}

// Cycles from the first warp's start to the last warp's end.
unsigned span(cudaKernel_t kernel, int warps, int trips, unsigned *out, unsigned *sink) {
  float y = 1, z = 2;
  void *args[] = {&out, &sink, &y, &z, &trips};
  CHECK(cudaLaunchKernel((void *)kernel, dim3(1), dim3(32 * warps), args, 0, 0));
  const auto clocks = download(out, 3 * warps);
  unsigned last = 0;
  for (int w = 0; w < warps; ++w) last = std::max(last, clocks[3 * w + 1] - clocks[0]);
  return last;
}

// The next length in the pack and so many bytes; false at its end.
bool next(FILE *pack, std::vector<char> &bytes) {
  int size;
  if (fread(&size, sizeof size, 1, pack) != 1) return false;
  bytes.resize(size);
  return fread(bytes.data(), 1, size, pack) == size_t(size);
}

int main(int count, char **arguments) {
  FILE *pack = count == 2 ? fopen(arguments[1], "rb") : nullptr;  // per kernel its name and its cubin, after their lengths
  if (!pack) {
    fprintf(stderr, "usage: slots PACK, as slots.py writes it\n");
    return 1;
  }
  unsigned *out = allocate<unsigned>(1024), *sink = allocate<unsigned>(1024);
  for (std::vector<char> name, cubin; next(pack, name) && next(pack, cubin);) {
    cudaLibrary_t library;
    cudaKernel_t kernel;
    CHECK(cudaLibraryLoadData(&library, cubin.data(), 0, 0, 0, 0, 0, 0));
    CHECK(cudaLibraryGetKernel(&kernel, library, "body"));
    for (int warps : {1, 32}) {
      span(kernel, warps, 8, out, sink);
      const double few = span(kernel, warps, 8, out, sink), many = span(kernel, warps, 40, out, sink);
      report((many - few) / 32 / SLOTS / std::max(1, warps / 4), "%.*s.warps%d", int(name.size()), name.data(), warps);
    }
    CHECK(cudaLibraryUnload(library));
  }
  end_report();
  return 0;
}
