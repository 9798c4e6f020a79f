// Memory of the runtime: allocations, copies, fills, pointers.
#include "runtime.h"

CUresult cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemAllocAsync(CUdeviceptr *, size_t, cudaStream_t), cuMemFreeAsync(CUdeviceptr, cudaStream_t), cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned), cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
CUresult cuMemHostAlloc(void **, size_t, unsigned), cuMemFree_v2(CUdeviceptr), cuMemFreeHost(void *), cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuMemHostRegister_v2(void *, size_t, unsigned), cuMemHostUnregister(void *), cuMemHostGetDevicePointer_v2(CUdeviceptr *, void *, unsigned), cuMemHostGetFlags(unsigned *, void *);
CUresult cuMemcpyAsync(CUdeviceptr, CUdeviceptr, size_t, cudaStream_t), cuPointerGetAttribute(void *, int, CUdeviceptr), cuMemcpy2DAsync_v2(const void *, cudaStream_t);
#define P(p) ((CUdeviceptr *)(p))

// ---- allocations
API(cudaError_t) cudaMalloc(void **p, size_t n) {
  BEGIN();
  if (!p) return simt_fail(cudaErrorInvalidValue);
  *p = NULL;
  return n ? simt_end(cuMemAlloc_v2(P(p), n)) : cudaSuccess;
}
API(cudaError_t) cudaMallocAsync(void **p, size_t n, cudaStream_t s) { BEGIN(); *p = NULL; return n ? simt_end(cuMemAllocAsync(P(p), n, s)) : cudaSuccess; }
API(cudaError_t) cudaMallocFromPoolAsync(void **p, size_t n, void *pool, cudaStream_t s) { return cudaMallocAsync(p, n, s); }
API(cudaError_t) cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) { BEGIN(); return simt_end(cuMemAllocPitch_v2(P(p), pitch, width, height, 4)); }
API(cudaError_t) cudaMallocManaged(void **p, size_t n, unsigned flags) { BEGIN(); return simt_end(cuMemAllocManaged(P(p), n, flags)); }
API(cudaError_t) cudaHostAlloc(void **p, size_t n, unsigned flags) { BEGIN(); *p = NULL; return n ? simt_end(cuMemHostAlloc(p, n, flags)) : cudaSuccess; }
API(cudaError_t) cudaMallocHost(void **p, size_t n) { BEGIN(); *p = NULL; return n ? simt_end(cuMemHostAlloc(p, n, 0)) : cudaSuccess; }
API(cudaError_t) cudaFree(void *p) { BEGIN(); return p ? simt_end(cuMemFree_v2((CUdeviceptr)p)) : cudaSuccess; }
API(cudaError_t) cudaFreeAsync(void *p, cudaStream_t s) { BEGIN(); return p ? simt_end(cuMemFreeAsync((CUdeviceptr)p, s)) : cudaSuccess; }
API(cudaError_t) cudaFreeHost(void *p) { BEGIN(); return p ? simt_end(cuMemFreeHost(p)) : cudaSuccess; }
API(cudaError_t) cudaHostRegister(void *p, size_t n, unsigned flags) { BEGIN(); return simt_end(cuMemHostRegister_v2(p, n, flags)); }
API(cudaError_t) cudaHostUnregister(void *p) { BEGIN(); return simt_end(cuMemHostUnregister(p)); }
API(cudaError_t) cudaHostGetDevicePointer(void **d, void *p, unsigned flags) { BEGIN(); return simt_end(cuMemHostGetDevicePointer_v2(P(d), p, flags)); }
API(cudaError_t) cudaHostGetFlags(unsigned *flags, void *p) { BEGIN(); return simt_end(cuMemHostGetFlags(flags, p)); }
API(cudaError_t) cudaMemGetInfo(size_t *free_, size_t *total) { BEGIN(); return simt_end(cuMemGetInfo_v2(free_, total)); }
struct pitched { void *ptr; size_t pitch, xsize, ysize; };
struct extent { size_t width, height, depth; };
API(cudaError_t) cudaMalloc3D(struct pitched *p, struct extent e) {
  BEGIN();
  p->xsize = e.width, p->ysize = e.height;
  return simt_end(cuMemAllocPitch_v2(P(&p->ptr), &p->pitch, e.width, e.height * e.depth, 4));
}

// ---- copies
enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };  // cudaMemcpyKind
static int type_of(const void *p) {  // cudaMemoryType
  unsigned type = 0, managed = 0;
  if (cuPointerGetAttribute(&type, 2, (CUdeviceptr)p)) return 0;
  cuPointerGetAttribute(&managed, 8, (CUdeviceptr)p);
  return managed ? 3 : (int)type;
}
// Memory of the host where the direction says device, or the other way round.
static bool wrong_way(const void *to, const void *from, int kind) {
  if (kind == DEFAULT) return false;
  int there = type_of(to), here = type_of(from);
  bool to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE, from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
  return to_device && !there || !to_device && there == 2 || from_device && !here || !from_device && here == 2;
}
static cudaError_t check(const void *to, const void *from, int kind) {
  if (kind < HOST_TO_HOST || kind > DEFAULT) return simt_fail(cudaErrorInvalidMemcpyDirection);
  return wrong_way(to, from, kind) ? simt_fail(cudaErrorInvalidValue) : cudaSuccess;
}
API(cudaError_t) cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, cudaStream_t s) {
  BEGIN();
  if (!n) return cudaSuccess;
  cudaError_t wrong = check(to, from, kind);
  return wrong ? wrong : simt_end(cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, n, s));
}
API(cudaError_t) cudaMemcpy(void *to, const void *from, size_t n, int kind) { ENTER(); return cudaMemcpyAsync(to, from, n, kind, NULL); }
API(cudaError_t) cudaMemcpyPeer(void *to, int a, const void *from, int b, size_t n) { ENTER(); return cudaMemcpyAsync(to, from, n, DEFAULT, NULL); }
API(cudaError_t) cudaMemcpyPeerAsync(void *to, int a, const void *from, int b, size_t n, cudaStream_t s) { ENTER(); return cudaMemcpyAsync(to, from, n, DEFAULT, s); }
struct memcpy2d {  // CUDA_MEMCPY2D
  size_t from_x, from_y; int from_type; const void *from_host; CUdeviceptr from; CUarray from_array; size_t from_pitch;
  size_t to_x, to_y; int to_type; void *to_host; CUdeviceptr to; CUarray to_array; size_t to_pitch;
  size_t width, height;
};
enum { UNIFIED = 4 };  // CU_MEMORYTYPE_UNIFIED: the address says which
API(cudaError_t) cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind, cudaStream_t s) {
  BEGIN();
  if (!width || !height) return cudaSuccess;
  if (width > to_pitch || width > from_pitch) return simt_fail(cudaErrorInvalidPitchValue);
  cudaError_t wrong = check(to, from, kind);
  struct memcpy2d c = {.from_type = UNIFIED, .from = (CUdeviceptr)from, .from_pitch = from_pitch, .to_type = UNIFIED, .to = (CUdeviceptr)to, .to_pitch = to_pitch, .width = width, .height = height};
  return wrong ? wrong : simt_end(cuMemcpy2DAsync_v2(&c, s));
}
API(cudaError_t) cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind) { ENTER(); return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL); }

// ---- fills
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, cudaStream_t), cuMemsetD2D8Async(CUdeviceptr, size_t, unsigned char, size_t, size_t, cudaStream_t);
API(cudaError_t) cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s) { BEGIN(); return simt_end(cuMemsetD8Async((CUdeviceptr)p, value, n, s)); }
API(cudaError_t) cudaMemset(void *p, int value, size_t n) { ENTER(); return cudaMemsetAsync(p, value, n, NULL); }
API(cudaError_t) cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t s) { BEGIN(); return simt_end(cuMemsetD2D8Async((CUdeviceptr)p, pitch, value, width, height, s)); }
API(cudaError_t) cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) { ENTER(); return cudaMemset2DAsync(p, pitch, value, width, height, NULL); }
API(cudaError_t) cudaMemset3DAsync(struct pitched p, int value, struct extent e, cudaStream_t s) {
  BEGIN();
  for (size_t z = 0; z < e.depth; z++) DRIVER(cuMemsetD2D8Async((CUdeviceptr)p.ptr + z * p.pitch * p.ysize, p.pitch, value, e.width, e.height, s));
  return cudaSuccess;
}
API(cudaError_t) cudaMemset3D(struct pitched p, int value, struct extent e) { ENTER(); return cudaMemset3DAsync(p, value, e, NULL); }

// ---- what is known about a pointer
struct attributes { int type, device; void *device_pointer, *host_pointer; long newer[8]; };
API(cudaError_t) cudaPointerGetAttributes(struct attributes *a, const void *p) {
  BEGIN();
  *a = (struct attributes){type_of(p), 0, NULL, NULL, {0}};
  if (!a->type) {
    a->device = -2;
    a->host_pointer = (void *)p;
    return cudaSuccess;
  }
  cuPointerGetAttribute(&a->device_pointer, 3, (CUdeviceptr)p);
  cuPointerGetAttribute(&a->host_pointer, 4, (CUdeviceptr)p);
  return cudaSuccess;
}

// ---- hints, which change nothing here, and the pool of streams
CUresult cuMemPrefetchAsync(CUdeviceptr, size_t, int, cudaStream_t);
#if RUNTIME >= 13
struct location { int type, id; };
API(cudaError_t) cudaMemPrefetchAsync(const void *p, size_t n, struct location l, unsigned flags, cudaStream_t s) { BEGIN(); return simt_end(cuMemPrefetchAsync((CUdeviceptr)p, n, 0, s)); }
API(cudaError_t) cudaMemAdvise(const void *p, size_t n, int advice, struct location l) { BEGIN(); return simt_end(cuMemPrefetchAsync((CUdeviceptr)p, n, 0, NULL)); }
#else
API(cudaError_t) cudaMemPrefetchAsync(const void *p, size_t n, int d, cudaStream_t s) { BEGIN(); return simt_end(cuMemPrefetchAsync((CUdeviceptr)p, n, 0, s)); }
API(cudaError_t) cudaMemAdvise(const void *p, size_t n, int advice, int d) { BEGIN(); return simt_end(cuMemPrefetchAsync((CUdeviceptr)p, n, 0, NULL)); }
#endif
CUresult cuDeviceGetDefaultMemPool(void **, int), cuMemPoolCreate(void **, const void *), cuMemPoolDestroy(void *), cuMemPoolTrimTo(void *, size_t);
CUresult cuMemPoolSetAttribute(void *, int, void *), cuMemPoolGetAttribute(void *, int, void *);
API(cudaError_t) cudaDeviceGetDefaultMemPool(void **pool, int d) { BEGIN(); return simt_end(cuDeviceGetDefaultMemPool(pool, d)); }
API(cudaError_t) cudaDeviceGetMemPool(void **pool, int d) { BEGIN(); return simt_end(cuDeviceGetDefaultMemPool(pool, d)); }
API(cudaError_t) cudaDeviceSetMemPool(int d, void *pool) { BEGIN(); return cudaSuccess; }
API(cudaError_t) cudaMemPoolCreate(void **pool, const void *properties) { BEGIN(); return simt_end(cuMemPoolCreate(pool, properties)); }
API(cudaError_t) cudaMemPoolDestroy(void *pool) { BEGIN(); return simt_end(cuMemPoolDestroy(pool)); }
API(cudaError_t) cudaMemPoolTrimTo(void *pool, size_t n) { BEGIN(); return simt_end(cuMemPoolTrimTo(pool, n)); }
API(cudaError_t) cudaMemPoolSetAttribute(void *pool, int which, void *value) { BEGIN(); return simt_end(cuMemPoolSetAttribute(pool, which, value)); }
API(cudaError_t) cudaMemPoolGetAttribute(void *pool, int which, void *value) { BEGIN(); return simt_end(cuMemPoolGetAttribute(pool, which, value)); }
