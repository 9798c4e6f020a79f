#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cassert>
#define REPORT(x) printf("[%s: %d %s]\n", #x, (int)(x), cudaGetErrorString(cudaPeekAtLastError()))
__device__ int returns[64];
__global__ void formats(const char *wild) {
  int k = 0; double x = 3.14159265358979; long long big = -1234567890123LL; short s = -3; unsigned char c = 200;
  returns[k++] = printf("1|%d|%5d|%-5d|%05d|%+d|% d|%i|%u|%o|%x|%X|%#x|%#o|\n", 42, 42, 42, 42, 42, 42, -7, 4000000000u, 8, 255, 255, 255, 8);
  returns[k++] = printf("2|%ld|%lld|%lu|%llx|%hd|%hhu|%zd|%zu|%jd|%td|\n", (long)-5, big, 5ul, big, s, c, (size_t)7, (size_t)8, (long long)9, (ptrdiff_t)10);
  returns[k++] = printf("3|%f|%10.3f|%-10.2e|%G|%g|%a|%A|%.0f|%#.0f|%+.1f|%E|\n", x, x, x, 1e-10, 1e10, x, x, 2.5, 2.5, x, x);
  returns[k++] = printf("4|%c|%5c|%-5c|%s|%10s|%-10s|%.2s|%p|%%|\n", 'a', 'b', 'c', "text", "right", "left", "cut", (void *)0x1234);
  returns[k++] = printf("5|%*d|%-*d|%.*f|%*.*f|\n", 6, 42, 6, 42, 2, x, 10, 3, x);
  returns[k++] = printf("6|%f|%f|%f|%f|%e|%d\n", 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0, -0.0, 1e-310, (int)0x80000000);
  returns[k++] = printf("7|%p|%p|%10p|%-20p|\n", (void *)0, (void *)~0ull, (void *)16, (void *)16);
  returns[k++] = printf("no newline");
  returns[k++] = printf("|\n");
  returns[k++] = printf("8|%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d|\n", 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32);
  returns[k++] = printf("9|%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d|\n", 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34);
  returns[k++] = printf("");
  char local[8] = {'l', 'o', 'c', (char)('0' + k % 10), 0}; returns[k++] = printf("10|%s|\n", local);
  returns[k++] = printf("11|%ls|%lc|\n", L"wide", L'w');
  returns[k++] = printf("12|%'d|%I|%F|\n", 1234567, 1.5);
  returns[k++] = printf("13|%y|%d|\n", 5, 6);
  returns[k++] = printf("14|%");
  returns[k++] = printf("\n15|%-+ #010d|%lf|%Lf|%hf|\n", 5, x, x, x);
  returns[k++] = printf("16|%5%|%l|\n");
  returns[k++] = printf("17|%2$d %1$d|\n", 1, 2);
  returns[k++] = printf("18|%.3d|%8.3d|%.0d|%x|%llX|%hhd|%hx|\n", 5, 5, 0, -1, -1ll, 300, 70000);
  returns[k++] = printf("19|%.10s|%-8.3s|%s|\n", "abc", "abcdef", "");
  returns[k++] = printf("20|%500d|%.300f|\n", 5, 1.0 / 3);
}
__global__ void one(const char *format, long long a, long long b) { returns[0] = printf(format, a, b); }
__global__ void text(const char *s, int n) { returns[0] = printf("text=%s n=%d\n", s, n); }
__global__ void failing(int n) { printf("before %d\n", threadIdx.x); assert(threadIdx.x < n && "below n"); printf("after %d\n", threadIdx.x); }
__global__ void many(int n) { for (int i = 0; i < n; i++) { int r = printf("line %d of block %d, padded to be long enough ........................................\n", i, blockIdx.x); if (r != 2) returns[1]++; returns[2]++; } }
__global__ void flood() { int r = printf("line of block %d thread %d and some text\n", blockIdx.x, threadIdx.x); if (r != 2) { atomicAdd(&returns[1], 1); returns[2] = r; } }
__global__ void trapping(int n) { printf("before\n"); if (threadIdx.x == n) __trap(); }
__global__ void breaking(int n) { printf("before\n"); if (threadIdx.x == n) __brkpt(); }
__global__ void wild_store(int *p) { printf("before\n"); *p = 1; }
__device__ void *kept[70000];
__device__ int counted[8];
__global__ void fill(size_t bytes, int most) { int n = 0; while (n < most && (kept[n] = malloc(bytes))) n++; counted[0] = n; }
__global__ void empty_heap(int n) { for (int i = 0; i < n; i++) free(kept[i]); }
__global__ void sizes() { kept[0] = malloc(0); kept[1] = malloc(1); kept[2] = malloc(16); kept[3] = malloc(17); kept[4] = malloc(~0ull); kept[5] = malloc(4096); kept[6] = malloc(8 << 20); kept[7] = malloc((size_t)1 << 40); free(0); }
__global__ void again(int what) { void *p = malloc(100); printf("got %d\n", p != 0); if (what == 0) { free(p); free(p); } if (what == 1) free((char *)p + 16); if (what == 2) free((void *)kept); if (what == 3) free((void *)0x123456789); if (what == 4) { int x; free(&x); } printf("after\n"); }
int main(int argc, char **argv) {
  const char *what = argv[1]; int h[64];
  char *page; cudaMalloc(&page, 4096); cudaMemset(page, 'x', 4096);
  setvbuf(stdout, 0, _IOLBF, 0);
  if (!strcmp(what, "formats")) formats<<<1, 1>>>(0);
  if (!strcmp(what, "n")) { cudaMemcpy(page, "n|%n|%d|\n", 10, cudaMemcpyHostToDevice); one<<<1, 1>>>(page, (long long)page + 64, 5); }
  if (!strcmp(what, "nullformat")) one<<<1, 1>>>(0, 1, 2);
  if (!strcmp(what, "wildformat")) one<<<1, 1>>>((char *)0x123456, 1, 2);
  if (!strcmp(what, "badformat")) { cudaMemcpy(page, "b|%lld|%q|%lld|%", 17, cudaMemcpyHostToDevice); one<<<1, 1>>>(page, 1, 2); }
  if (!strcmp(what, "moreformat")) { cudaMemcpy(page, "m|%lld|%lld|%lld|%s|\n", 22, cudaMemcpyHostToDevice); one<<<1, 1>>>(page, 1, 2); }
  if (!strcmp(what, "nulltext")) text<<<1, 1>>>(0, 3);
  if (!strcmp(what, "wildtext")) text<<<1, 1>>>((char *)0x123456, 3);
  if (!strcmp(what, "longtext")) text<<<1, 1>>>(page, 3);
  if (!strcmp(what, "midtext")) { cudaMemset(page + 2000, 0, 1); text<<<1, 1>>>(page, 3); }
  if (!strcmp(what, "assert")) failing<<<2, 64>>>(61);
  if (!strcmp(what, "trap")) trapping<<<2, 64>>>(33);
  if (!strcmp(what, "brkpt")) breaking<<<2, 64>>>(33);
  if (!strcmp(what, "store")) wild_store<<<2, 64>>>((int *)0x123456);
  if (!strcmp(what, "many")) many<<<4, 1>>>(5000);
  if (!strcmp(what, "many1")) many<<<1, 1>>>(12000);
  if (!strncmp(what, "free", 4)) again<<<1, 1>>>(what[4] - '0');
  size_t v = 0; 
  if (!strcmp(what, "limits")) { for (int l = 0; l < 8; l++) { cudaError_t e = cudaDeviceGetLimit(&v, (cudaLimit)l); printf("limit %d: %zu (%d)\n", l, v, e); cudaGetLastError(); } 
    sizes<<<1, 1>>>(); REPORT(cudaDeviceSynchronize()); void *k[8]; cudaMemcpyFromSymbol(k, kept, 64); for (int i = 0; i < 8; i++) printf("malloc %p\n", k[i]);
    int x; printf("memcpy from heap: %d\n", cudaMemcpy(&x, k[1], 4, cudaMemcpyDeviceToHost)); cudaGetLastError(); }
  if (!strcmp(what, "fill")) { size_t b = atoi(argv[2]); for (int round = 0; round < 2; round++) { fill<<<1, 1>>>(b, 20000); REPORT(cudaDeviceSynchronize()); int n; cudaMemcpyFromSymbol(&n, counted, 4); void *k[4]; cudaMemcpyFromSymbol(k, kept, 32); printf("fill %zu: %d, %p %p %p %p\n", b, n, k[0], k[1], k[2], k[3]); empty_heap<<<1, 1>>>(n); REPORT(cudaDeviceSynchronize()); } }
  if (!strcmp(what, "set")) { fill<<<1, 1>>>(1024, 3); REPORT(cudaDeviceSynchronize()); printf("set after use: %d\n", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20)); cudaDeviceGetLimit(&v, cudaLimitMallocHeapSize); printf("now %zu\n", v); cudaGetLastError(); }
  if (!strcmp(what, "flood")) { flood<<<2000, 256>>>(); }
  REPORT(cudaGetLastError()); REPORT(cudaDeviceSynchronize()); REPORT(cudaDeviceSynchronize()); REPORT(cudaGetLastError());
  cudaError_t e = cudaMemcpyFromSymbol(h, returns, sizeof h); printf("memcpy %d\nreturns", e); if (!e) for (int i = 0; i < 26; i++) printf(" %d", h[i]); puts("");
}
