#include <cstdio>
#include <cstdlib>
#include <cstring>
#define REPORT(x) printf("[%s: %d %s]\n", #x, (int)(x), cudaGetErrorString(cudaPeekAtLastError()))
__device__ int result[64];
__device__ int codes[16384];
__global__ void hello(int size, int depth) { printf("Recursion=%d: Hello World from thread %d block %d\n", depth, threadIdx.x, blockIdx.x); if (size == 1) return; int n = size >> 1; if (threadIdx.x == 0 && n > 0) { hello<<<1, n>>>(n, ++depth); printf("-------> nested execution depth: %d\n", depth); } }
__global__ void tick(int k) { atomicAdd(&result[0], 1); }
__global__ void slow(int k) { long long b = clock64(); while (clock64() - b < 2000000); atomicAdd(&result[0], 1); }
__global__ void say(int k) { printf("child %d begins\n", k); long long b = clock64(); while (clock64() - b < 200000); printf("child %d ends\n", k); }
__global__ void deep(int level) { result[1] = level; deep<<<1, 1>>>(level + 1); cudaError_t e = cudaGetLastError(); if (e || level > 40) { result[2] = level; result[3] = e; } }
__global__ void deep_tail(int level) { result[1] = level; if (level < 60) deep_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(level + 1); cudaError_t e = cudaGetLastError(); if (e) { result[2] = level; result[3] = e; } }
__global__ void deep_fire(int level) { result[1] = level; if (level < 60) deep_fire<<<1, 1, 0, cudaStreamFireAndForget>>>(level + 1); cudaError_t e = cudaGetLastError(); if (e) { result[2] = level; result[3] = e; } }
__global__ void pending(int n, int which, int slowly) { for (int i = 0; i < n; i++) { cudaStream_t s = which == 0 ? 0 : which == 1 ? cudaStreamFireAndForget : cudaStreamTailLaunch; if (slowly) slow<<<1, 1, 0, s>>>(i); else tick<<<1, 1, 0, s>>>(i); cudaError_t e = cudaGetLastError(); codes[i] = e; if (e) { if (!result[2]) result[4] = i; result[2]++; result[3] = e; } } }
__global__ void big(int a) { extern __shared__ int s[]; s[0] = a; result[0] += 1; }
__global__ void bad() { int k = 10;
  tick<<<1, 2048>>>(1); result[k++] = cudaPeekAtLastError(); result[k++] = cudaGetLastError(); result[k++] = cudaGetLastError();
  tick<<<0, 32>>>(1); result[k++] = cudaGetLastError(); tick<<<1, 0>>>(1); result[k++] = cudaGetLastError();
  tick<<<dim3(1, 70000, 1), 1>>>(1); result[k++] = cudaGetLastError(); tick<<<1, dim3(1, 1, 65)>>>(1); result[k++] = cudaGetLastError();
  big<<<1, 1, 50000>>>(1); result[k++] = cudaGetLastError(); big<<<1, 1, 300000>>>(1); result[k++] = cudaGetLastError();
  void (*f)(int) = tick; f<<<1, 1>>>(3); result[k++] = cudaGetLastError();
  cudaStream_t s; result[k++] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); tick<<<1, 1, 0, s>>>(1); result[k++] = cudaGetLastError(); result[k++] = cudaStreamDestroy(s);
  result[k++] = cudaStreamCreateWithFlags(&s, 0); int v = -1; result[k++] = cudaGetDevice(&v); result[k++] = v; size_t w; result[k++] = cudaDeviceGetLimit(&w, cudaLimitMallocHeapSize); result[k++] = w; 
}
__device__ void (*volatile pointer)(int);
__global__ void launches(int k) { void (*f)(int) = pointer; if (k == 1) f = (void (*)(int))0x1234567000ull; if (k == 2) f = tick; if (k == 3) { tick<<<1, 1, 0, (cudaStream_t)0x77>>>(1); } else if (k == 4) { tick<<<1, 1, 0, cudaStreamPerThread>>>(1); } else if (k == 5) { tick<<<1, 1, 0, cudaStreamLegacy>>>(1); } else f<<<1, 1>>>(3); result[1] = cudaGetLastError(); printf("%s | %s\n", cudaGetErrorString((cudaError_t)result[1]), cudaGetErrorName((cudaError_t)result[1])); }
__global__ void mem(int k) { void *p; int *q = result + 10; int c; *q++ = cudaMalloc(&p, 100); *q++ = p != 0; *q++ = cudaFree(p); *q++ = cudaMalloc(&p, 1ull << 40); *q++ = p == 0; *q++ = cudaGetLastError(); *q++ = cudaRuntimeGetVersion(&c); *q++ = c; if (k == 1) *q++ = cudaFree((void *)0x1234); *q++ = cudaMemsetAsync(result + 60, 1, 4, 0); *q++ = cudaMemcpyAsync(result + 61, result + 1, 4, cudaMemcpyDeviceToDevice, 0); cudaEvent_t ev; *q++ = cudaEventCreateWithFlags(&ev, cudaEventDisableTiming); *q++ = cudaEventRecord(ev, 0); *q++ = cudaStreamWaitEvent(0, ev, 0); *q++ = cudaEventDestroy(ev); int v = -1; *q++ = cudaGetDevice(&v); *q++ = v; *q++ = cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0); *q++ = v; }
__global__ void streams(int k) { printf("parent begins\n"); say<<<1, 1, 0, cudaStreamTailLaunch>>>(100); say<<<1, 1, 0, cudaStreamTailLaunch>>>(101); say<<<1, 1>>>(1); say<<<1, 1>>>(2); say<<<1, 1, 0, cudaStreamFireAndForget>>>(3); say<<<1, 1, 0, cudaStreamFireAndForget>>>(4); long long b = clock64(); while (clock64() - b < 4000000); printf("parent ends\n"); }
__global__ void traps(int k) { printf("child traps\n"); __trap(); }
__global__ void parent_of_trap(int k) { traps<<<1, 1>>>(1); printf("parent after\n"); }
__global__ void reduce(int *in, int *out, unsigned n) { unsigned t = threadIdx.x; int *i = in + blockIdx.x * blockDim.x; int *o = &out[blockIdx.x]; if (n == 2 && t == 0) { out[blockIdx.x] = i[0] + i[1]; return; } int s = n >> 1; if (s > 1 && t < s) { i[t] += i[t + s]; if (t == 0) { reduce<<<1, s>>>(i, o, s); if (cudaGetLastError()) atomicAdd(&result[5], 1); } } }
int main(int argc, char **argv) {
  const char *what = argv[1]; setvbuf(stdout, 0, _IOLBF, 0); int n = argc > 2 ? atoi(argv[2]) : 0;
  size_t v; cudaDeviceGetLimit(&v, cudaLimitDevRuntimePendingLaunchCount); cudaError_t e = cudaDeviceGetLimit(&v, cudaLimitDevRuntimeSyncDepth); if (!strcmp(what, "hello")) { printf("sync depth limit %zu, %d\n", v, e); cudaGetLastError(); cudaDeviceGetLimit(&v, cudaLimitDevRuntimePendingLaunchCount); printf("pending limit %zu\n", v); }
  if (!strcmp(what, "hello")) hello<<<2, 8>>>(8, 0);
  if (!strcmp(what, "deep")) deep<<<1, 1>>>(0);
  if (!strcmp(what, "deep_tail")) deep_tail<<<1, 1>>>(0);
  if (!strcmp(what, "deep_fire")) deep_fire<<<1, 1>>>(0);
  if (!strncmp(what, "pending", 7)) pending<<<1, 1>>>(n, what[7] - '0', what[8] == 's');
  if (!strcmp(what, "bad")) bad<<<1, 1>>>();
  if (!strncmp(what, "launch", 6)) launches<<<1, 1>>>(what[6] - '0');
  if (!strncmp(what, "mem", 3)) mem<<<1, 1>>>(what[3] - '0');
  if (!strcmp(what, "streams")) streams<<<1, 1>>>(0);
  if (!strcmp(what, "trap")) parent_of_trap<<<1, 1>>>(0);
  int *d, *o; cudaMalloc(&d, 4 << 20); cudaMalloc(&o, 1 << 16); int *hd = (int *)malloc(4 << 20); for (int i = 0; i < 1 << 20; i++) hd[i] = 1; cudaMemcpy(d, hd, 4 << 20, cudaMemcpyHostToDevice);
  if (!strcmp(what, "reduce")) reduce<<<n, 512>>>(d, o, 512);
  REPORT(cudaGetLastError()); REPORT(cudaDeviceSynchronize()); REPORT(cudaGetLastError()); int h[64];
  e = cudaMemcpyFromSymbol(h, result, sizeof h); printf("memcpy %d result", e); if (!e) for (int i = 0; i < 64; i++) printf(" %d", h[i]); puts("");
  if (!strncmp(what, "pending", 7)) { static int c[16384]; cudaMemcpyFromSymbol(c, codes, sizeof c); int last = -1; for (int i = 0; i < n; i++) if (c[i] != last) { printf("from launch %d: code %d\n", i, c[i]); last = c[i]; if (i > 3000) break; } }
  if (!strcmp(what, "reduce")) { cudaMemcpy(hd, o, 4 * n, cudaMemcpyDeviceToHost); long s = 0; for (int i = 0; i < n; i++) s += hd[i]; printf("sum %ld of %d\n", s, n * 512); }
}
