// Copies and fills that a kernel asks for: in the order of its launches, and what wrong ones return.
#include <cstdio>
__device__ int result[64];
__global__ void fill(int *a, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = i + 1; }
__global__ void sum(const int *b, const unsigned char *c, int n, int *out) {
  int s = 0;
  for (int i = 0; i < n; i++) s += b[i] + c[i];
  *out = s;
}
__global__ void in_order(int *a, int *b, unsigned char *c, int *out, int n) {
  if (threadIdx.x == 0) {
    fill<<<1, 32>>>(a, n);
    result[0] = cudaMemcpyAsync(b, a, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    result[1] = cudaMemsetAsync(c, 3, n, 0);
    sum<<<1, 1>>>(b, c, n, out);
    result[2] = cudaMemsetAsync(a, 0x1ff, n * sizeof(int), 0);
    result[3] = cudaGetLastError();
  }
}
__global__ void rectangles(unsigned char *a, unsigned char *b) {
  if (threadIdx.x == 0) {
    result[0] = cudaMemset2DAsync(a, 64, 7, 20, 5, 0);
    result[1] = cudaMemcpy2DAsync(b, 32, a, 64, 24, 4, cudaMemcpyDefault, 0);
    result[2] = cudaMemcpyAsync(b + 1024, a + 64, 21, cudaMemcpyDeviceToDevice, 0);
    result[3] = cudaGetLastError();
  }
}
__global__ void tail(int *a, int *b, int n) {
  if (threadIdx.x == 0) {
    result[0] = cudaMemcpyAsync(b, a, n * sizeof(int), cudaMemcpyDeviceToDevice, cudaStreamTailLaunch);
    result[1] = cudaGetLastError();
    fill<<<1, 32>>>(a, n);
  }
}
__global__ void odd(unsigned char *a, unsigned char *b) {
  int k = 0;
  cudaStream_t s;
  result[k++] = cudaMemcpyAsync(b, a, 0, cudaMemcpyDeviceToDevice, 0);
  result[k++] = cudaMemcpyAsync(0, 0, 0, cudaMemcpyDeviceToDevice, 0);
  result[k++] = cudaMemcpyAsync(b, a, 4, cudaMemcpyHostToDevice, 0);
  result[k++] = cudaMemcpyAsync(b, a, 4, (cudaMemcpyKind)9, 0);
  result[k++] = cudaGetLastError();
  result[k++] = cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, (cudaStream_t)0x77);
  result[k++] = cudaGetLastError();
  result[k++] = cudaMemsetAsync(b, 1, 4, (cudaStream_t)0x77);
  result[k++] = cudaGetLastError();
  result[k++] = cudaMemset2DAsync(b, 8, 1, 16, 2, 0);
  result[k++] = cudaGetLastError();
  result[k++] = cudaMemcpy2DAsync(b, 8, a, 64, 16, 2, cudaMemcpyDeviceToDevice, 0);
  result[k++] = cudaGetLastError();
  result[k++] = cudaMemset2DAsync(b, 8, 1, 0, 2, 0);
  result[k++] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  result[k++] = cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, s);
  result[k++] = cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, cudaStreamFireAndForget);
  result[k++] = cudaGetLastError();
}
extern "C" __global__ void meet(int *a, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  unsigned long long grid = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
  a[i] = i;
  out[i] = cudaCGSynchronize(grid, 0);
  out[i] += a[(i * 7 + 5) % n];
}
#define REPORT(x) printf("[%s: %d]\n", #x, (int)(x))
static void show(const char *name) {
  int h[64];
  printf("== %s\n", name);
  REPORT(cudaDeviceSynchronize());
  REPORT(cudaMemcpyFromSymbol(h, result, sizeof h));
  for (int i = 0; i < 24; i++) printf("%d ", h[i]);
  puts("");
  int zero[64] = {};
  cudaMemcpyToSymbol(result, zero, sizeof zero);
}
static void bytes(const unsigned char *p, int n) { for (int i = 0; i < n; i++) printf("%d%c", p[i], i % 64 == 63 ? '\n' : ' '); puts(""); }
int main() {
  unsigned char *a, *b; int *out; unsigned char host[4096];
  cudaMalloc(&a, 4096); cudaMalloc(&b, 4096); cudaMalloc(&out, 4); cudaMemset(a, 0, 4096); cudaMemset(b, 0, 4096); cudaMemset(out, 0, 4);
  unsigned char *c; cudaMalloc(&c, 4096); cudaMemset(c, 0, 4096);
  in_order<<<1, 32>>>((int *)a, (int *)b, c, out, 100); show("in_order");
  int s; cudaMemcpy(&s, out, 4, cudaMemcpyDeviceToHost); printf("sum %d\n", s); cudaMemcpy(host, a, 404, cudaMemcpyDeviceToHost); printf("a %d %d %d\n", host[0], host[399], host[400]);
  cudaMemset(a, 1, 4096); cudaMemset(b, 2, 4096); rectangles<<<1, 32>>>(a, b); show("rectangles");
  cudaMemcpy(host, a, 512, cudaMemcpyDeviceToHost); bytes(host, 384); cudaMemcpy(host, b, 2048, cudaMemcpyDeviceToHost); bytes(host, 192); bytes(host + 1024, 64);
  cudaMemset(a, 0, 4096); cudaMemset(b, 0, 4096); tail<<<1, 32>>>((int *)a, (int *)b, 50); show("tail"); cudaMemcpy(host, b, 200, cudaMemcpyDeviceToHost); int *h = (int *)host; s = 0; for (int i = 0; i < 50; i++) s += h[i]; printf("sum %d\n", s);
  odd<<<1, 1>>>(a, b); show("odd");
}
