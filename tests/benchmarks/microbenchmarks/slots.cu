// Runs kernels whose body slots.py has replaced, and prints their cycles: slots PACK; one block, 1 and 32 warps, clock.
//
// The kernel below is the template: a loop over 256 FFMAs between two readings of the clock.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                      \
  do {                                                                                                   \
    cudaError_t status = (call);                                                                         \
    if (status != cudaSuccess) {                                                                         \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                      \
      exit(1);                                                                                           \
    }                                                                                                    \
  } while (0)

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
  CHECK(cudaDeviceSynchronize());
  unsigned clocks[96], last = 0;
  CHECK(cudaMemcpy(clocks, out, 12 * warps, cudaMemcpyDeviceToHost));
  for (int w = 0; w < warps; ++w) last = max(last, clocks[3 * w + 1] - clocks[0]);
  return last;
}

int main(int, char **argv) {
  FILE *pack = fopen(argv[1], "rb");  // per kernel: length of its name, name, length of its cubin, cubin
  unsigned *out, *sink;
  CHECK(cudaMalloc(&out, 4096));
  CHECK(cudaMalloc(&sink, 65536));
  int size;
  const char *separator = "{\n";
  while (fread(&size, 4, 1, pack) == 1) {
    std::vector<char> name(size + 1), cubin;
    if (fread(name.data(), 1, size, pack) != size_t(size) || fread(&size, 4, 1, pack) != 1) return 1;
    cubin.resize(size);
    if (fread(cubin.data(), 1, size, pack) != size_t(size)) return 1;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    CHECK(cudaLibraryLoadData(&library, cubin.data(), 0, 0, 0, 0, 0, 0));
    CHECK(cudaLibraryGetKernel(&kernel, library, "body"));
    for (int warps : {1, 32}) {
      span(kernel, warps, 8, out, sink);
      double few = span(kernel, warps, 8, out, sink), many = span(kernel, warps, 40, out, sink);
      double each = (many - few) / 32 / SLOTS / (warps > 4 ? warps / 4 : 1);
      printf("%s  \"%s.warps%d\": %.4f", separator, name.data(), warps, each);
      separator = ",\n";
    }
    CHECK(cudaLibraryUnload(library));
  }
  printf("\n}\n");
  return 0;
}
