#include <cstdio>
#include <cstdlib>
#include <cassert>
#define OK(x) { cudaError_t e = x; if (e) { fprintf(stderr, "%d %s\n", e, cudaGetErrorString(e)); exit(1); } }
__global__ void print_none() { printf("hello\n"); }
__global__ void print_some(int n) { int t = threadIdx.x; if (t < n) printf("thread %d of %d: %f\n", t, n, t * 0.5); }
__global__ void print_ways(int *out) { int t = threadIdx.x; int r; if (t & 1) r = printf("odd %d\n", t); else r = printf("even %s\n", "text"); out[t] = r; }
__global__ void print_loop(int *out) { int t = threadIdx.x; for (int i = 0; i < (t & 3); i++) printf("%d %d\n", t, i); out[t] = t; }
__global__ void allocate(void **out, int bytes) { out[blockIdx.x * blockDim.x + threadIdx.x] = malloc(bytes); }
__global__ void release(void **out) { free(out[blockIdx.x * blockDim.x + threadIdx.x]); }
__global__ void both(int *out) { int *p = (int *)malloc(64); if (p) { p[threadIdx.x & 15] = threadIdx.x; out[threadIdx.x] = p[threadIdx.x & 15]; free(p); } }
__global__ void holds(int *out, int n) { int t = threadIdx.x; assert(t < n); out[t] = t; }
__global__ void clocks(long long *out) { long long a = clock64(), b = clock64(), c = clock64(); out[0] = a; out[1] = b; out[2] = c; unsigned x = clock(), y = clock(); out[3] = y - x;
  long long n = 0, begin = clock64(); while (clock64() - begin < 100000) n++; out[4] = n;
  long long d = 0, e = 0; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(d)); e = d; n = 0; while (e == d) { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(e)); n++; } out[5] = d; out[6] = e; out[7] = n;
  d = e; while (e == d) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(e)); out[8] = e; d = e; while (e == d) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(e)); out[9] = e; }
__global__ void __launch_bounds__(1024) fresh(int *out) { int *p = new int[4]; p[0] = threadIdx.x; out[threadIdx.x] = p[0]; delete[] p; }
int main() {
  int *d; OK(cudaMalloc(&d, 1 << 16)); void **p = (void **)d;
  print_none<<<1, 32>>>(); OK(cudaDeviceSynchronize()); print_some<<<1, 32>>>(5); OK(cudaDeviceSynchronize()); print_some<<<2, 64>>>(40); OK(cudaDeviceSynchronize());
  print_ways<<<1, 32>>>(d); OK(cudaDeviceSynchronize()); int h[64]; cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost); printf("returns %d %d\n", h[0], h[1]);
  print_loop<<<1, 32>>>(d); OK(cudaDeviceSynchronize());
  allocate<<<1, 32>>>(p, 64); OK(cudaDeviceSynchronize()); void *q[64]; cudaMemcpy(q, p, 256, cudaMemcpyDeviceToHost); for (int i = 0; i < 32; i++) printf("%p ", q[i]); puts("");
  release<<<1, 32>>>(p); OK(cudaDeviceSynchronize());
  allocate<<<1, 4>>>(p, 100000); OK(cudaDeviceSynchronize()); cudaMemcpy(q, p, 32, cudaMemcpyDeviceToHost); for (int i = 0; i < 4; i++) printf("%p ", q[i]); puts(""); release<<<1, 4>>>(p); OK(cudaDeviceSynchronize());
  both<<<1, 32>>>(d); OK(cudaDeviceSynchronize()); holds<<<1, 32>>>(d, 32); OK(cudaDeviceSynchronize()); fresh<<<1, 32>>>(d); OK(cudaDeviceSynchronize());
  clocks<<<1, 1>>>((long long *)d); OK(cudaDeviceSynchronize()); clocks<<<1, 1>>>((long long *)d); OK(cudaDeviceSynchronize()); long long c[10]; cudaMemcpy(c, d, 80, cudaMemcpyDeviceToHost);
  printf("clock64 steps %lld %lld, clock %lld, loop iterations in 100000: %lld; globaltimer %lld steps %lld after %lld reads, %lld %lld\n", c[1] - c[0], c[2] - c[1], c[3], c[4], c[5], c[6] - c[5], c[7], c[8] - c[6], c[9] - c[8]);
}
