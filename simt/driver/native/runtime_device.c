// The device as the runtime tells of it.
#include "runtime.h"

CUresult cuDeviceGetAttribute(int *, int, int), cuDeviceGetName(char *, int, int), cuDeviceTotalMem_v2(size_t *, int), cuDeviceGetUuid_v2(char *, int);
CUresult cuDeviceGetCount(int *), cuDeviceGetPCIBusId(char *, int, int), cuDeviceGetByPCIBusId(int *, const char *), cuDeviceCanAccessPeer(int *, int, int);
CUresult cuDriverGetVersion(int *), cuCtxSynchronize(void), cuCtxSetLimit(unsigned, size_t), cuCtxGetLimit(size_t *, unsigned), cuCtxGetStreamPriorityRange(int *, int *);
#define DEVICE_0(d) if (d) return simt_fail(cudaErrorInvalidDevice)

// ---- properties: members in order, each with the first of the device attributes (CUdevice_attribute) that it shows
// (0: none).  N: a number, S: a size; A: several numbers; OLD and NEW: in CUDA 12 only, and since CUDA 13.
#if RUNTIME >= 13
#define OLD(...)
#define NEW(...) __VA_ARGS__
#else
#define OLD(...) __VA_ARGS__
#define NEW(...)
#endif
#define PROPERTIES(N, S, A)                                                                                       \
  S(sharedMemPerBlock, 8) N(regsPerBlock, 12) N(warpSize, 10) S(memPitch, 11) N(maxThreadsPerBlock, 1)            \
  A(maxThreadsDim, 3, 2) A(maxGridSize, 3, 5) OLD(N(clockRate, 13)) S(totalConstMem, 9) N(major, 75) N(minor, 76) \
  S(textureAlignment, 14) S(texturePitchAlignment, 51) OLD(N(deviceOverlap, 15)) N(multiProcessorCount, 16)       \
  OLD(N(kernelExecTimeoutEnabled, 17)) N(integrated, 18) N(canMapHostMemory, 19) OLD(N(computeMode, 20))          \
  N(maxTexture1D, 21) N(maxTexture1DMipmap, 77) OLD(N(maxTexture1DLinear, 69)) A(maxTexture2D, 2, 22)             \
  A(maxTexture2DMipmap, 2, 73) A(maxTexture2DLinear, 3, 70) A(maxTexture2DGather, 2, 45) A(maxTexture3D, 3, 24)   \
  A(maxTexture3DAlt, 3, 47) N(maxTextureCubemap, 52) A(maxTexture1DLayered, 2, 42) A(maxTexture2DLayered, 3, 27)  \
  A(maxTextureCubemapLayered, 2, 53) N(maxSurface1D, 55) A(maxSurface2D, 2, 56) A(maxSurface3D, 3, 58)            \
  A(maxSurface1DLayered, 2, 61) A(maxSurface2DLayered, 3, 63) N(maxSurfaceCubemap, 66)                            \
  A(maxSurfaceCubemapLayered, 2, 67) S(surfaceAlignment, 30) N(concurrentKernels, 31) N(ECCEnabled, 32)           \
  N(pciBusID, 33) N(pciDeviceID, 34) N(pciDomainID, 50) N(tccDriver, 35) N(asyncEngineCount, 40)                  \
  N(unifiedAddressing, 41) OLD(N(memoryClockRate, 36)) N(memoryBusWidth, 37) N(l2CacheSize, 38)                   \
  N(persistingL2CacheMaxSize, 108) N(maxThreadsPerMultiProcessor, 39) N(streamPrioritiesSupported, 78)            \
  N(globalL1CacheSupported, 79) N(localL1CacheSupported, 80) S(sharedMemPerMultiprocessor, 81)                    \
  N(regsPerMultiprocessor, 82) N(managedMemory, 83) N(isMultiGpuBoard, 84) N(multiGpuBoardGroupID, 85)            \
  N(hostNativeAtomicSupported, 86) OLD(N(singleToDoublePrecisionPerfRatio, 87)) N(pageableMemoryAccess, 88)       \
  N(concurrentManagedAccess, 89) N(computePreemptionSupported, 90) N(canUseHostPointerForRegisteredMem, 91)       \
  N(cooperativeLaunch, 95) OLD(N(cooperativeMultiDeviceLaunch, 96)) S(sharedMemPerBlockOptin, 97)                 \
  N(pageableMemoryAccessUsesHostPageTables, 100) N(directManagedMemAccessFromHost, 101)                           \
  N(maxBlocksPerMultiProcessor, 106) N(accessPolicyMaxWindowSize, 109) S(reservedSharedMemPerBlock, 111)          \
  N(hostRegisterSupported, 99) N(sparseCudaArraySupported, 112) N(hostRegisterReadOnlySupported, 113)             \
  N(timelineSemaphoreInteropSupported, 114) N(memoryPoolsSupported, 115) N(gpuDirectRDMASupported, 116)           \
  N(gpuDirectRDMAFlushWritesOptions, 117) N(gpuDirectRDMAWritesOrdering, 118)                                     \
  N(memoryPoolSupportedHandleTypes, 119) N(deferredMappingCudaArraySupported, 121) N(ipcEventSupported, 125)      \
  N(clusterLaunch, 120) N(unifiedFunctionPointers, 129)                                                           \
  NEW(N(deviceNumaConfig, 130) N(deviceNumaId, 131) N(mpsEnabled, 133) N(hostNumaId, 134))
struct cudaDeviceProp {
  char name[256], uuid[16], luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
#define MEMBER(name, which) int name;
#define SIZE(name, which) size_t name;
#define ARRAY(name, n, which) int name[n];
  PROPERTIES(MEMBER, SIZE, ARRAY)
  OLD(int reserved[63];) NEW(int reserved[59];)
};
#if RUNTIME >= 13
_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "as CUDA 13 has it");
#else
_Static_assert(sizeof(struct cudaDeviceProp) == 1032, "as CUDA 12 has it");
#endif
static cudaError_t properties(struct cudaDeviceProp *p, int d) {
  int value;
  DEVICE_0(d);
  memset(p, 0, sizeof *p);
  DRIVER(cuDeviceGetName(p->name, sizeof p->name, d));
  DRIVER(cuDeviceGetUuid_v2(p->uuid, d));
  DRIVER(cuDeviceTotalMem_v2(&p->totalGlobalMem, d));
#define FILL(name, which) DRIVER(cuDeviceGetAttribute(&value, which, d)); p->name = value;
#define FILL_ARRAY(name, n, which) for (int k = 0; k < n; k++) DRIVER(cuDeviceGetAttribute(p->name + k, which + k, d));
  PROPERTIES(FILL, FILL, FILL_ARRAY)
  return cudaSuccess;
}
API(cudaError_t) cudaGetDeviceProperties(struct cudaDeviceProp *p, int d) { BEGIN(); return properties(p, d); }
API(cudaError_t) cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int d) { BEGIN(); return properties(p, d); }
API(cudaError_t) cudaChooseDevice(int *d, const struct cudaDeviceProp *p) { BEGIN(); *d = 0; return cudaSuccess; }

// ---- which device
API(cudaError_t) cudaGetDeviceCount(int *n) { BEGIN(); return simt_end(cuDeviceGetCount(n)); }
API(cudaError_t) cudaSetDevice(int d) { BEGIN(); DEVICE_0(d); return cudaSuccess; }
API(cudaError_t) cudaInitDevice(int d, unsigned flags, unsigned more) { BEGIN(); DEVICE_0(d); return cudaSuccess; }
API(cudaError_t) cudaSetValidDevices(int *d, int n) { BEGIN(); return cudaSuccess; }
API(cudaError_t) cudaGetDevice(int *d) { BEGIN(); *d = 0; return cudaSuccess; }
API(cudaError_t) cudaDeviceGetAttribute(int *value, int which, int d) { BEGIN(); return simt_end(cuDeviceGetAttribute(value, which, d)); }
API(cudaError_t) cudaDeviceGetPCIBusId(char *text, int n, int d) { BEGIN(); return simt_end(cuDeviceGetPCIBusId(text, n, d)); }
API(cudaError_t) cudaDeviceGetByPCIBusId(int *d, const char *text) { BEGIN(); return simt_end(cuDeviceGetByPCIBusId(d, text)); }
API(cudaError_t) cudaDeviceCanAccessPeer(int *can, int a, int b) { BEGIN(); return simt_end(cuDeviceCanAccessPeer(can, a, b)); }
API(cudaError_t) cudaDeviceEnablePeerAccess(int d, unsigned flags) { BEGIN(); return simt_fail(d ? cudaErrorInvalidDevice : cudaErrorPeerAccessUnsupported); }
API(cudaError_t) cudaDeviceDisablePeerAccess(int d) { BEGIN(); return simt_fail(cudaErrorPeerAccessNotEnabled); }
API(cudaError_t) cudaDriverGetVersion(int *version) { ENTER(); return simt_end(cuDriverGetVersion(version)); }
API(cudaError_t) cudaRuntimeGetVersion(int *version) { ENTER(); *version = RUNTIME >= 13 ? 13000 : 12090; return cudaSuccess; }

// ---- the device as a whole
API(cudaError_t) cudaDeviceSynchronize(void) { BEGIN(); return simt_end(cuCtxSynchronize()); }
API(cudaError_t) cudaThreadSynchronize(void) { BEGIN(); return simt_end(cuCtxSynchronize()); }
static unsigned device_flags;
API(cudaError_t) cudaSetDeviceFlags(unsigned flags) { ENTER(); device_flags = flags; return cudaSuccess; }
API(cudaError_t) cudaGetDeviceFlags(unsigned *flags) { ENTER(); *flags = device_flags; return cudaSuccess; }
API(cudaError_t) cudaDeviceSetLimit(unsigned which, size_t value) { BEGIN(); return simt_end(cuCtxSetLimit(which, value)); }
API(cudaError_t) cudaDeviceGetLimit(size_t *value, unsigned which) { BEGIN(); return simt_end(cuCtxGetLimit(value, which)); }
API(cudaError_t) cudaDeviceSetCacheConfig(int config) { BEGIN(); return cudaSuccess; }
API(cudaError_t) cudaDeviceGetCacheConfig(int *config) { BEGIN(); *config = 0; return cudaSuccess; }
API(cudaError_t) cudaDeviceSetSharedMemConfig(int config) { BEGIN(); return cudaSuccess; }
API(cudaError_t) cudaDeviceGetSharedMemConfig(int *config) { BEGIN(); *config = 1; return cudaSuccess; }  // banks of 4 bytes
API(cudaError_t) cudaCtxResetPersistingL2Cache(void) { BEGIN(); return cudaSuccess; }
API(cudaError_t) cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { BEGIN(); return simt_end(cuCtxGetStreamPriorityRange(least, greatest)); }

// ---- the driver's entry points, for programs that mix the two APIs
CUresult cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
API(cudaError_t) cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, uint64_t flags, int *status) {
  BEGIN();
  cuGetProcAddress_v2(name, function, version, flags, status);
  return cudaSuccess;
}
API(cudaError_t) cudaGetDriverEntryPoint(const char *name, void **function, uint64_t flags, int *status) {
  return cudaGetDriverEntryPointByVersion(name, function, RUNTIME * 1000, flags, status);
}
