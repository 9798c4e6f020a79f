// Initialisation, the one device, contexts, limits; the table of entry points.
#include "simt.h"

struct entry { const char *base; int version; const char *symbol; void *function; };
extern const struct entry simt_entries[];  // made from driver_names.txt

// ---- entry points by name
API(CUresult) cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status) {
  const struct entry *best = NULL;
  ENTER();
  if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
  for (const struct entry *e = simt_entries; e->base; e++)
    if (!strcmp(e->base, symbol) && e->version <= version && (!best || e->version > best->version)) best = e;
  *function = best ? best->function : NULL;
  if (status) *status = best ? 0 : 1;  // found, or no such symbol
  return best ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
API(CUresult) cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
// NVIDIA's own runtime asks for undocumented tables first.  A program that contains it can only be linked again, which
// the report says.
API(CUresult) cuGetExportTable(const void **table, const void *id) {
  simt_unsupported(__func__);
  if (table) *table = NULL;
  return CUDA_ERROR_NOT_FOUND;
}

// ---- errors
static const struct simt_error *error_of(int code) {
  for (const struct simt_error *e = simt_errors; e->driver; e++)
    if (e->code == code && e->driver[0] != '-') return e;
  return NULL;
}
API(CUresult) cuGetErrorName(int code, const char **text) {
  const struct simt_error *found = error_of(code);
  *text = found ? found->driver : NULL;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
API(CUresult) cuGetErrorString(int code, const char **text) {
  const struct simt_error *found = error_of(code);
  *text = found ? found->text : NULL;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// ---- the device
#define DEVICE_0(d) if (d) return CUDA_ERROR_INVALID_DEVICE
enum { MULTIPROCESSORS = 16, MAJOR = 75, MINOR };  // CUdevice_attribute
API(CUresult) cuInit(unsigned flags) { BEGIN(); return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
API(CUresult) cuDriverGetVersion(int *version) { ENTER(); *version = 13000; return CUDA_SUCCESS; }
API(CUresult) cuDeviceGetCount(int *count) { BEGIN(); *count = 1; return CUDA_SUCCESS; }
API(CUresult) cuDeviceGet(CUdevice *d, int ordinal) { BEGIN(); DEVICE_0(ordinal); *d = 0; return CUDA_SUCCESS; }
API(CUresult) cuDeviceGetName(char *name, int n, CUdevice d) { BEGIN(); DEVICE_0(d); snprintf(name, n, "%s", device.name); return CUDA_SUCCESS; }
API(CUresult) cuDeviceTotalMem_v2(size_t *bytes, CUdevice d) { BEGIN(); DEVICE_0(d); *bytes = device.memory; return CUDA_SUCCESS; }
API(CUresult) cuDeviceGetAttribute(int *value, int which, CUdevice d) {
  BEGIN();
  DEVICE_0(d);
  if (which < 1 || !value) return CUDA_ERROR_INVALID_VALUE;
  *value = which < N_ATTRIBUTES ? device.attributes[which] : 0;
  return CUDA_SUCCESS;
}
CUresult simt_multiprocessors(int *count) { *count = device.attributes[MULTIPROCESSORS]; return CUDA_SUCCESS; }
API(CUresult) cuDeviceComputeCapability(int *major, int *minor, CUdevice d) {
  BEGIN();
  DEVICE_0(d);
  *major = device.attributes[MAJOR], *minor = device.attributes[MINOR];
  return CUDA_SUCCESS;
}
API(CUresult) cuDeviceGetUuid_v2(char *id, CUdevice d) { BEGIN(); DEVICE_0(d); memcpy(id, "a modelled GPU 0", 16); return CUDA_SUCCESS; }
API(CUresult) cuDeviceGetUuid(char *id, CUdevice d) { return cuDeviceGetUuid_v2(id, d); }
API(CUresult) cuDeviceGetLuid(char *id, unsigned *mask, CUdevice d) { BEGIN(); DEVICE_0(d); memset(id, 0, 8); *mask = 0; return CUDA_SUCCESS; }
API(CUresult) cuDeviceGetPCIBusId(char *text, int n, CUdevice d) { BEGIN(); DEVICE_0(d); snprintf(text, n, "0000:01:00.0"); return CUDA_SUCCESS; }
API(CUresult) cuDeviceGetByPCIBusId(CUdevice *d, const char *text) { BEGIN(); *d = 0; return strstr(text, "01:00.0") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuDeviceCanAccessPeer(int *can, CUdevice a, CUdevice b) { BEGIN(); *can = 0; return a || b ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
API(CUresult) cuDeviceGetExecAffinitySupport(int *is, int type, CUdevice d) { BEGIN(); *is = 0; return CUDA_SUCCESS; }
API(CUresult) cuDeviceGetTexture1DLinearMaxWidth(size_t *n, int format, unsigned channels, CUdevice d) { BEGIN(); *n = device.attributes[69]; return CUDA_SUCCESS; }

// ---- contexts: all are the same memory; which is current is a matter of the thread
struct context { unsigned flags, number; int device; bool active; };
static struct context primary = {0, 1, 0, false};
static unsigned n_contexts = 1;
enum { DEEPEST = 64 };
static __thread CUcontext stack[DEEPEST];
static __thread int depth;

API(CUresult) cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice d) { BEGIN(); DEVICE_0(d); primary.active = true; *context = &primary; return CUDA_SUCCESS; }
API(CUresult) cuDevicePrimaryCtxRelease_v2(CUdevice d) { BEGIN(); DEVICE_0(d); return CUDA_SUCCESS; }
API(CUresult) cuDevicePrimaryCtxReset_v2(CUdevice d) {
  BEGIN();
  DEVICE_0(d);
  CUresult result = simt_ask(OP_RESET, NULL, 0, NULL, 0, NULL, 0, NULL);
  if (!result) simt_reset();
  return result;
}
API(CUresult) cuDevicePrimaryCtxSetFlags_v2(CUdevice d, unsigned flags) { BEGIN(); DEVICE_0(d); primary.flags = flags; return CUDA_SUCCESS; }
API(CUresult) cuDevicePrimaryCtxGetState(CUdevice d, unsigned *flags, int *active) { BEGIN(); DEVICE_0(d); *flags = primary.flags, *active = primary.active; return CUDA_SUCCESS; }
API(CUresult) cuCtxSetCurrent(CUcontext context) {
  BEGIN();
  if (!context) depth = depth ? depth - 1 : 0;
  else stack[depth ? depth - 1 : depth++] = context;
  return CUDA_SUCCESS;
}
API(CUresult) cuCtxGetCurrent(CUcontext *context) { BEGIN(); *context = depth ? stack[depth - 1] : NULL; return CUDA_SUCCESS; }
API(CUresult) cuCtxPushCurrent_v2(CUcontext context) {
  BEGIN();
  if (!context || depth == DEEPEST) return CUDA_ERROR_INVALID_CONTEXT;
  stack[depth++] = context;
  return CUDA_SUCCESS;
}
API(CUresult) cuCtxPopCurrent_v2(CUcontext *context) {
  BEGIN();
  if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
  depth--;
  if (context) *context = stack[depth];
  return CUDA_SUCCESS;
}
API(CUresult) cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice d) {
  BEGIN();
  DEVICE_0(d);
  *context = calloc(1, sizeof **context);
  if (!*context) return CUDA_ERROR_OUT_OF_MEMORY;
  (*context)->flags = flags, (*context)->number = __sync_add_and_fetch(&n_contexts, 1);
  return cuCtxPushCurrent_v2(*context);
}
API(CUresult) cuCtxCreate_v3(CUcontext *context, void *affinity, int n, unsigned flags, CUdevice d) { return cuCtxCreate_v2(context, flags, d); }
API(CUresult) cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned flags, CUdevice d) { return cuCtxCreate_v2(context, flags, d); }
API(CUresult) cuCtxDestroy_v2(CUcontext context) {
  BEGIN();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (depth && stack[depth - 1] == context) depth--;
  if (context != &primary) free(context);
  return CUDA_SUCCESS;
}
API(CUresult) cuCtxDetach(CUcontext context) { return cuCtxDestroy_v2(context); }
API(CUresult) cuCtxGetDevice(CUdevice *d) { BEGIN(); *d = 0; return depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; }
API(CUresult) cuCtxGetDevice_v2(CUdevice *d, CUcontext context) { BEGIN(); *d = 0; return CUDA_SUCCESS; }
API(CUresult) cuCtxGetFlags(unsigned *flags) { BEGIN(); *flags = depth ? stack[depth - 1]->flags : 0; return depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; }
API(CUresult) cuCtxGetId(CUcontext context, uint64_t *id) { BEGIN(); if (!context) context = depth ? stack[depth - 1] : &primary; *id = context->number; return CUDA_SUCCESS; }
API(CUresult) cuCtxGetApiVersion(CUcontext context, unsigned *version) { BEGIN(); *version = 3020; return CUDA_SUCCESS; }
API(CUresult) cuCtxSynchronize(void) { BEGIN(); return simt_state(); }
API(CUresult) cuCtxSynchronize_v2(CUcontext context) { BEGIN(); return simt_state(); }
API(CUresult) cuCtxResetPersistingL2Cache(void) { BEGIN(); return CUDA_SUCCESS; }
API(CUresult) cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) { BEGIN(); return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; }
API(CUresult) cuCtxDisablePeerAccess(CUcontext peer) { BEGIN(); return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; }

// ---- limits (stack, printf, heap, nesting, pending launches, L2), and preferences, which only have to be kept
static size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
static int cache_config, shared_config;
API(CUresult) cuCtxGetLimit(size_t *value, unsigned which) {
  BEGIN();
  if (which >= sizeof limits / sizeof *limits) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = limits[which];
  return CUDA_SUCCESS;
}
API(CUresult) cuCtxSetLimit(unsigned which, size_t value) {
  BEGIN();
  if (which >= sizeof limits / sizeof *limits) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  struct limit_request request = {which, value};
  TRY(TELL(OP_LIMIT, &request));
  limits[which] = value;
  return CUDA_SUCCESS;
}
API(CUresult) cuCtxGetCacheConfig(int *config) { BEGIN(); *config = cache_config; return CUDA_SUCCESS; }
API(CUresult) cuCtxSetCacheConfig(int config) { BEGIN(); cache_config = config; return CUDA_SUCCESS; }
API(CUresult) cuCtxGetSharedMemConfig(int *config) { BEGIN(); *config = shared_config; return CUDA_SUCCESS; }
API(CUresult) cuCtxSetSharedMemConfig(int config) { BEGIN(); shared_config = config; return CUDA_SUCCESS; }
API(CUresult) cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  BEGIN();
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}
API(CUresult) cuProfilerStart(void) { ENTER(); return CUDA_SUCCESS; }
API(CUresult) cuProfilerStop(void) { ENTER(); return CUDA_SUCCESS; }
