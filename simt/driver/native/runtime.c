// The beginning of the runtime: its context, errors, and what nvcc registers before main.
#include "runtime.h"

CUresult cuInit(unsigned), cuDevicePrimaryCtxRetain(CUcontext *, int), cuCtxSetCurrent(CUcontext), cuCtxGetCurrent(CUcontext *);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleGetFunction(CUfunction *, CUmodule, const char *), cuModuleUnload(CUmodule);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *), cuLibraryGetManaged(CUdeviceptr *, size_t *, CUmodule, const char *);

// ---- errors
static __thread cudaError_t last;
cudaError_t simt_fail(cudaError_t error) { return error ? last = error : error; }
cudaError_t simt_end(CUresult result) { return simt_fail(result); }  // the numbers are the same
int simt_runtime_unsupported(const char *name) { return simt_fail(simt_unsupported(name)); }
API(cudaError_t) cudaGetLastError(void) {
  cudaError_t was = last;
  last = cudaSuccess;
  return was;
}
API(cudaError_t) cudaPeekAtLastError(void) { return last; }
static const struct simt_error *error_of(int code) {
  for (const struct simt_error *e = simt_errors; e->driver; e++)
    if (e->code == code) return e;
  return NULL;
}
API(const char *) cudaGetErrorString(cudaError_t code) {
  const struct simt_error *found = error_of(code);
  return found ? found->text : "unrecognized error code";
}
API(const char *) cudaGetErrorName(cudaError_t code) {
  const struct simt_error *found = error_of(code);
  return found ? found->runtime : "unrecognized error code";
}

// ---- what is registered: binaries, and host addresses that stand for functions and variables in them
struct binary { const void *image; CUmodule module; CUresult failed; struct binary *next; };
struct item {
  struct binary *binary;
  const void *host;
  const char *name;
  size_t size;
  void **managed;
  CUfunction function;
  CUdeviceptr address;
  struct item *next;
};
static struct binary *binaries;
static struct item *functions, *variables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t recursive = PTHREAD_ONCE_INIT;
static void make_recursive(void) {  // loading a module may register and load others
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &kind);
}
static void enter(void) { pthread_once(&recursive, make_recursive), pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }

static struct item *add(struct item **list, void **handle, const void *host, const char *name, size_t size) {
  struct item *made = calloc(1, sizeof *made);
  *made = (struct item){(struct binary *)handle, host, name, size};
  enter();
  made->next = *list, *list = made;
  leave();
  return made;
}
API(void **) __cudaRegisterFatBinary(void *image) {
  struct binary *made = calloc(1, sizeof *made);
  made->image = image;
  enter();
  made->next = binaries, binaries = made;
  leave();
  return (void **)made;
}
API(void) __cudaRegisterFatBinaryEnd(void **handle) {}
API(void) __cudaUnregisterFatBinary(void **handle) {}
API(char) __cudaInitModule(void **handle) { return !simt_begin_runtime(); }  // before host code follows the pointer of a managed variable
API(void) __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid, void *bid, void *block, void *grid, int *warp) {
  add(&functions, handle, host, name, 0);
}
API(void) __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size, int constant, int global) {
  add(&variables, handle, host, name, size);
}
API(void) __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {}
API(void) __cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name, int external, size_t size, int constant, int global) {
  add(&variables, handle, pointer, name, size)->managed = pointer;
}

// ---- and what it becomes when it is first used
static CUresult module_of(struct binary *binary) {
  if (!binary->module && !binary->failed) binary->failed = cuModuleLoadData(&binary->module, binary->image);
  return binary->failed;
}
static CUresult place(struct item *variable) {
  if (variable->address) return cudaSuccess;
  CUresult result = module_of(variable->binary);
  if (result) return result;
  return (variable->managed ? cuLibraryGetManaged : cuModuleGetGlobal_v2)(&variable->address, NULL, variable->binary->module, variable->name);
}
static CUcontext context;
static cudaError_t start(void) {
  CUresult result = cuInit(0);
  if (!result) result = cuDevicePrimaryCtxRetain(&context, 0);
  if (result) context = NULL;
  for (struct item *v = variables; v && !result; v = v->next)
    if (v->managed && !(result = place(v))) *v->managed = (void *)v->address;  // host code follows this pointer
  return result;
}
cudaError_t simt_begin_runtime(void) {
  cudaError_t result = cudaSuccess;
  enter();
  if (!context) result = start();
  leave();
  CUcontext now = NULL;
  if (!result) result = cuCtxGetCurrent(&now);
  if (!result && !now) result = cuCtxSetCurrent(context);
  return simt_end(result);
}
cudaError_t simt_function(CUfunction *out, const void *host) {
  cudaError_t result = cudaErrorInvalidDeviceFunction;
  enter();
  for (struct item *f = functions; f; f = f->next) {
    if (f->host != host && (!f->function || f->function != host)) continue;  // also a cudaKernel_t
    result = cudaSuccess;
    if (!f->function) result = module_of(f->binary);
    if (!f->function && !result) result = cuModuleGetFunction(&f->function, f->binary->module, f->name);
    *out = f->function;
    if (result != CUDA_ERROR_NOT_FOUND) break;
    result = cudaErrorInvalidDeviceFunction;
  }
  leave();
  return result;
}
static cudaError_t variable(struct item **out, const void *host) {
  cudaError_t result = cudaErrorInvalidSymbol;
  enter();
  for (struct item *v = variables; v; v = v->next)
    if (v->host == host || v->managed && *v->managed == host) {
      result = place(v);
      *out = v;
      break;
    }
  leave();
  return simt_fail(result);
}
// After cudaDeviceReset modules are loaded again when they are used.
static void forget(void) {
  enter();
  for (struct binary *b = binaries; b; b = b->next) b->module = NULL, b->failed = 0;
  for (struct item *f = functions; f; f = f->next) f->function = NULL;
  for (struct item *v = variables; v; v = v->next) v->address = 0;
  context = NULL;
  leave();
}
CUresult cuDevicePrimaryCtxReset_v2(int);
API(cudaError_t) cudaDeviceReset(void) {
  BEGIN();
  DRIVER(cuDevicePrimaryCtxReset_v2(0));
  forget();
  return cudaSuccess;
}

// ---- symbols
API(cudaError_t) cudaGetSymbolAddress(void **address, const void *symbol) {
  struct item *v;
  BEGIN();
  cudaError_t result = variable(&v, symbol);
  if (!result) *address = (void *)v->address;
  return result;
}
API(cudaError_t) cudaGetSymbolSize(size_t *size, const void *symbol) {
  struct item *v;
  BEGIN();
  cudaError_t result = variable(&v, symbol);
  if (!result) *size = v->size;
  return result;
}
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, int, cudaStream_t);
static cudaError_t symbol_copy(const void *symbol, size_t offset, size_t n, char **at) {
  struct item *v;
  cudaError_t result = variable(&v, symbol);
  if (result) return result;
  *at = (char *)v->address + offset;
  return offset + n > v->size ? simt_fail(cudaErrorInvalidValue) : cudaSuccess;
}
API(cudaError_t) cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t n, size_t offset, int kind, cudaStream_t s) {
  char *at;
  BEGIN();
  cudaError_t result = symbol_copy(symbol, offset, n, &at);
  return result ? result : cudaMemcpyAsync(at, from, n, kind, s);
}
API(cudaError_t) cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t n, size_t offset, int kind, cudaStream_t s) {
  char *at;
  BEGIN();
  cudaError_t result = symbol_copy(symbol, offset, n, &at);
  return result ? result : cudaMemcpyAsync(to, at, n, kind, s);
}
API(cudaError_t) cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, int kind) { ENTER(); return cudaMemcpyToSymbolAsync(symbol, from, n, offset, kind, NULL); }
API(cudaError_t) cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, int kind) { ENTER(); return cudaMemcpyFromSymbolAsync(to, symbol, n, offset, kind, NULL); }
