// Launches, functions, occupancy, streams, events.
#include "runtime.h"

CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t, void **, void **);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t, void **);
CUresult cuLaunchKernelEx(const void *, CUfunction, void **, void **);
CUresult cuFuncGetAttribute(int *, int, CUfunction), cuFuncSetAttribute(CUfunction, int, int), cuDeviceGetAttribute(int *, int, int);

// ---- launches
enum { DEEPEST = 64 };
static __thread struct { dim3 grid, block; size_t shared; cudaStream_t stream; } pushed[DEEPEST];
static __thread int depth;
API(unsigned) __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  if (depth == DEEPEST) return cudaErrorInvalidConfiguration;
  pushed[depth].grid = grid, pushed[depth].block = block, pushed[depth].shared = shared, pushed[depth++].stream = stream;
  return 0;
}
API(cudaError_t) __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (!depth) return simt_fail(cudaErrorMissingConfiguration);
  depth--;
  *grid = pushed[depth].grid, *block = pushed[depth].block, *shared = pushed[depth].shared, *(cudaStream_t *)stream = pushed[depth].stream;
  return cudaSuccess;
}
static cudaError_t refused(CUfunction f, dim3 g, dim3 b, size_t shared) {
  simt_note_refused(f, (unsigned[]){g.x, g.y, g.z}, (unsigned[]){b.x, b.y, b.z}, shared, shared);
  return simt_fail(cudaErrorInvalidConfiguration);
}
static cudaError_t check(CUfunction f, dim3 g, dim3 b, size_t shared) {
  int limit;
  const unsigned sizes[] = {b.x, b.y, b.z, g.x, g.y, g.z};  // CUdevice_attribute 2 to 7
  for (int k = 0; k < 6; k++) {
    DRIVER(cuDeviceGetAttribute(&limit, 2 + k, 0));
    if (!sizes[k] || sizes[k] > (unsigned)limit) return refused(f, g, b, shared);
  }
  DRIVER(cuDeviceGetAttribute(&limit, 1, 0));
  return (uint64_t)b.x * b.y * b.z > (uint64_t)limit ? refused(f, g, b, shared) : cudaSuccess;
}
static cudaError_t launch(const void *host, dim3 g, dim3 b, void **args, size_t shared, cudaStream_t s, bool cooperative) {
  FUNCTION(f, host);
  cudaError_t wrong = check(f, g, b, shared);
  if (wrong) return wrong;
  if (cooperative) return simt_end(cuLaunchCooperativeKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, shared, s, args));
  return simt_end(cuLaunchKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, shared, s, args, NULL));
}
API(cudaError_t) cudaLaunchKernel(const void *host, dim3 g, dim3 b, void **args, size_t shared, cudaStream_t s) { BEGIN(); return launch(host, g, b, args, shared, s, false); }
API(cudaError_t) cudaLaunchCooperativeKernel(const void *host, dim3 g, dim3 b, void **args, size_t shared, cudaStream_t s) { BEGIN(); return launch(host, g, b, args, shared, s, true); }
API(cudaError_t) __cudaLaunchKernel(void *kernel, dim3 g, dim3 b, void **args, size_t shared, cudaStream_t s) { BEGIN(); return launch(kernel, g, b, args, shared, s, false); }
API(cudaError_t) __cudaGetKernel(void **kernel, const void *host) { BEGIN(); FUNCTION(f, host); *kernel = f; return cudaSuccess; }
struct config { dim3 grid, block; size_t shared; cudaStream_t stream; void *attributes; unsigned n; };
struct driver_config { dim3 grid, block; unsigned shared; cudaStream_t stream; void *attributes; unsigned n; };
API(cudaError_t) cudaLaunchKernelExC(const struct config *c, const void *host, void **args) {
  BEGIN();
  FUNCTION(f, host);
  cudaError_t wrong = check(f, c->grid, c->block, c->shared);
  if (wrong) return wrong;
  struct driver_config given = {c->grid, c->block, c->shared, c->stream, c->attributes, c->n};
  return simt_end(cuLaunchKernelEx(&given, f, args, NULL));
}
CUresult cuLaunchHostFunc(cudaStream_t, void (*)(void *), void *);
API(cudaError_t) cudaLaunchHostFunc(cudaStream_t s, void (*function)(void *), void *data) { BEGIN(); return simt_end(cuLaunchHostFunc(s, function, data)); }
API(cudaError_t) cudaStreamAddCallback(cudaStream_t s, void (*function)(cudaStream_t, cudaError_t, void *), void *data, unsigned flags) {
  BEGIN();
  function(s, cudaSuccess, data);
  return cudaSuccess;
}

// ---- functions
struct cudaFuncAttributes {
  size_t shared, constant, local;
  int threads, registers, ptx, binary, cache_ca, dynamic, carveout;
  int newer[22];  // clusters and what came later: zero
};
API(cudaError_t) cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *host) {
  static const int in_order[] = {0, 4, 5, 6, 7, 8, 9};  // CUfunction_attribute from threads on
  BEGIN();
  FUNCTION(f, host);
  int value;
  memset(a, 0, sizeof *a);
  DRIVER(cuFuncGetAttribute(&value, 1, f)); a->shared = value;
  DRIVER(cuFuncGetAttribute(&value, 2, f)); a->constant = value;
  DRIVER(cuFuncGetAttribute(&value, 3, f)); a->local = value;
  for (size_t k = 0; k < sizeof in_order / sizeof *in_order; k++) DRIVER(cuFuncGetAttribute(&a->threads + k, in_order[k], f));
  return cudaSuccess;
}
API(cudaError_t) cudaFuncSetAttribute(const void *host, int which, int value) { BEGIN(); FUNCTION(f, host); return simt_end(cuFuncSetAttribute(f, which, value)); }
API(cudaError_t) cudaFuncSetCacheConfig(const void *host, int config) { BEGIN(); FUNCTION(f, host); return cudaSuccess; }
API(cudaError_t) cudaFuncSetSharedMemConfig(const void *host, int config) { BEGIN(); FUNCTION(f, host); return cudaSuccess; }
CUresult cuFuncGetName(const char **, CUfunction);
API(cudaError_t) cudaFuncGetName(const char **name, const void *host) { BEGIN(); FUNCTION(f, host); return simt_end(cuFuncGetName(name, f)); }
API(cudaError_t) cudaGetFuncBySymbol(CUfunction *out, const void *host) { BEGIN(); FUNCTION(f, host); *out = f; return cudaSuccess; }
API(cudaError_t) cudaGetKernel(void **out, const void *host) { BEGIN(); FUNCTION(f, host); *out = f; return cudaSuccess; }

// ---- occupancy
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, CUfunction, int, size_t), cuOccupancyAvailableDynamicSMemPerBlock(size_t *, CUfunction, int, int);
API(cudaError_t) cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *host, int threads, size_t shared) { BEGIN(); FUNCTION(f, host); return simt_end(cuOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared)); }
API(cudaError_t) cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *host, int threads, size_t shared, unsigned flags) { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, host, threads, shared); }
API(cudaError_t) cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *host, int n, int threads) { BEGIN(); FUNCTION(f, host); return simt_end(cuOccupancyAvailableDynamicSMemPerBlock(shared, f, n, threads)); }

// ---- streams
CUresult cuStreamCreateWithPriority(cudaStream_t *, unsigned, int), cuStreamDestroy_v2(cudaStream_t), cuStreamSynchronize(cudaStream_t), cuStreamQuery(cudaStream_t);
CUresult cuStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned), cuStreamGetFlags(cudaStream_t, unsigned *), cuStreamGetPriority(cudaStream_t, int *), cuStreamGetId(cudaStream_t, uint64_t *);
API(cudaError_t) cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) { BEGIN(); return simt_end(cuStreamCreateWithPriority(s, flags, priority)); }
API(cudaError_t) cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) { BEGIN(); return simt_end(cuStreamCreateWithPriority(s, flags, 0)); }
API(cudaError_t) cudaStreamCreate(cudaStream_t *s) { BEGIN(); return simt_end(cuStreamCreateWithPriority(s, 0, 0)); }
API(cudaError_t) cudaStreamDestroy(cudaStream_t s) { BEGIN(); return simt_end(cuStreamDestroy_v2(s)); }
API(cudaError_t) cudaStreamSynchronize(cudaStream_t s) { BEGIN(); return simt_end(cuStreamSynchronize(s)); }
API(cudaError_t) cudaStreamQuery(cudaStream_t s) { BEGIN(); return simt_end(cuStreamQuery(s)); }
API(cudaError_t) cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) { BEGIN(); return simt_end(cuStreamWaitEvent(s, e, flags)); }
API(cudaError_t) cudaStreamGetFlags(cudaStream_t s, unsigned *flags) { BEGIN(); return simt_end(cuStreamGetFlags(s, flags)); }
API(cudaError_t) cudaStreamGetPriority(cudaStream_t s, int *priority) { BEGIN(); return simt_end(cuStreamGetPriority(s, priority)); }
API(cudaError_t) cudaStreamGetId(cudaStream_t s, uint64_t *id) { BEGIN(); return simt_end(cuStreamGetId(s, id)); }
API(cudaError_t) cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t n, unsigned flags) { BEGIN(); return cudaSuccess; }
API(cudaError_t) cudaStreamSetAttribute(cudaStream_t s, int which, const void *value) { BEGIN(); return cudaSuccess; }

// ---- events
CUresult cuEventCreate(cudaEvent_t *, unsigned), cuEventDestroy_v2(cudaEvent_t), cuEventRecord(cudaEvent_t, cudaStream_t), cuEventSynchronize(cudaEvent_t);
CUresult cuEventQuery(cudaEvent_t), cuEventElapsedTime_v2(float *, cudaEvent_t, cudaEvent_t);
API(cudaError_t) cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) { BEGIN(); return simt_end(cuEventCreate(e, flags)); }
API(cudaError_t) cudaEventCreate(cudaEvent_t *e) { BEGIN(); return simt_end(cuEventCreate(e, 0)); }
API(cudaError_t) cudaEventDestroy(cudaEvent_t e) { BEGIN(); return simt_end(cuEventDestroy_v2(e)); }
API(cudaError_t) cudaEventRecord(cudaEvent_t e, cudaStream_t s) { BEGIN(); return simt_end(cuEventRecord(e, s)); }
API(cudaError_t) cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) { BEGIN(); return simt_end(cuEventRecord(e, s)); }
API(cudaError_t) cudaEventSynchronize(cudaEvent_t e) { BEGIN(); return simt_end(cuEventSynchronize(e)); }
API(cudaError_t) cudaEventQuery(cudaEvent_t e) { BEGIN(); return simt_end(cuEventQuery(e)); }
API(cudaError_t) cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) { BEGIN(); return simt_end(cuEventElapsedTime_v2(ms, a, b)); }
API(cudaError_t) cudaEventElapsedTime_v2(float *ms, cudaEvent_t a, cudaEvent_t b) { return cudaEventElapsedTime(ms, a, b); }
API(cudaError_t) cudaProfilerStart(void) { ENTER(); return cudaSuccess; }
API(cudaError_t) cudaProfilerStop(void) { ENTER(); return cudaSuccess; }
