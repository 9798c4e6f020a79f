// Allocations, copies and fills.  Device memory is mapped into this process, so they need no server but for its table.
#include <errno.h>
#include <sys/mman.h>

#include "simt.h"

enum { PAGE = 4096, PITCH = 512 };

// ---- which allocation an address is in
struct range { uint64_t start, end; int kind; void *host; size_t host_size; unsigned flags; bool managed; };
static struct range *ranges;
static size_t n_ranges, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t position(uint64_t address) {  // of the first range that begins behind the address
  size_t low = 0, high = n_ranges;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (ranges[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}
static void insert(struct range new) {
  pthread_mutex_lock(&lock);
  if (n_ranges == room) ranges = realloc(ranges, (room = room ? 2 * room : 64) * sizeof *ranges);
  size_t at = position(new.start);
  memmove(ranges + at + 1, ranges + at, (n_ranges++ - at) * sizeof *ranges);
  ranges[at] = new;
  pthread_mutex_unlock(&lock);
}
static bool known(uint64_t address, struct range *found) {
  pthread_mutex_lock(&lock);
  size_t at = position(address);
  bool is = at && address < ranges[at - 1].end;
  if (is) *found = ranges[at - 1];
  pthread_mutex_unlock(&lock);
  return is;
}
static bool remove_range(uint64_t start, struct range *found) {
  pthread_mutex_lock(&lock);
  size_t at = position(start);
  bool is = at && ranges[at - 1].start == start;
  if (is) {
    *found = ranges[at - 1];
    memmove(ranges + at - 1, ranges + at, (n_ranges-- - at) * sizeof *ranges);
  }
  pthread_mutex_unlock(&lock);
  return is;
}
static bool inside(uint64_t address) { return address - device.base < device.size; }
static CUresult find(uint64_t address, struct range *found) {
  if (known(address, found)) return CUDA_SUCCESS;
  struct range_request request = {address};
  struct range_reply reply;
  if (!inside(address)) return CUDA_ERROR_INVALID_VALUE;
  TRY(ASK(OP_RANGE, &request, &reply));  // a variable of a module
  *found = (struct range){reply.address, reply.address + reply.size, reply.kind, NULL, 0, 0};
  insert(*found);
  return CUDA_SUCCESS;
}
void simt_forget_modules(void) {  // their addresses may be others' now
  pthread_mutex_lock(&lock);
  size_t kept = 0;
  for (size_t k = 0; k < n_ranges; k++)
    if (ranges[k].kind != MODULE) ranges[kept++] = ranges[k];
  n_ranges = kept;
  pthread_mutex_unlock(&lock);
}
CUresult simt_resolve(uint64_t address, size_t size, void **at, int *kind) {
  struct range range;
  *kind = -1;
  *at = (void *)address;
  if (!inside(address)) {  // not in device memory: of registered host memory the kernel's address is another one
    if (known(address, &range)) *kind = HOST;
    return CUDA_SUCCESS;
  }
  TRY(find(address, &range));
  if (size > range.end - address) return CUDA_ERROR_INVALID_VALUE;
  *at = device.alias + (address - device.base);
  *kind = range.kind;
  return CUDA_SUCCESS;
}

// ---- allocations
static size_t whole_pages(size_t size) { return (size + PAGE - 1) / PAGE * PAGE; }
static CUresult allocate(uint64_t *address, size_t size, int kind, unsigned flags) {
  struct allocate_request request = {size, kind};
  struct allocate_reply reply;
  if (!address || !size) return CUDA_ERROR_INVALID_VALUE;
  if (size > device.size) return CUDA_ERROR_OUT_OF_MEMORY;
  TRY(ASK(OP_ALLOCATE, &request, &reply));
  if (kind != DEVICE && mprotect((void *)reply.address, whole_pages(size), PROT_READ | PROT_WRITE)) {
    struct free_request back = {reply.address};
    TELL(OP_FREE, &back);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  insert((struct range){reply.address, reply.address + size, kind, NULL, 0, flags});
  *address = reply.address;
  return CUDA_SUCCESS;
}
CUresult simt_allocate(uint64_t *address, size_t size, int kind) { return allocate(address, size, kind, 0); }
static CUresult release(uint64_t address, bool host) {
  struct range range;
  struct free_request request = {address};
  if (!address) return CUDA_SUCCESS;
  if (!inside(address) || !known(address, &range) || range.start != address || range.kind == MODULE) return CUDA_ERROR_INVALID_VALUE;
  if (host != (range.kind == HOST) || range.host) return CUDA_ERROR_INVALID_VALUE;
  remove_range(address, &range);
  if (range.kind != DEVICE) mprotect((void *)address, whole_pages(range.end - range.start), device.access);
  return TELL(OP_FREE, &request);
}
API(CUresult) cuMemAlloc_v2(CUdeviceptr *address, size_t size) { READY(); return allocate(address, size, DEVICE, 0); }
API(CUresult) cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
  READY();
  if (!pitch || !width || !height) return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  return allocate(address, *pitch * height, DEVICE, 0);
}
API(CUresult) cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream s) {
  READY();
  if (!address || !size) return CUDA_ERROR_INVALID_VALUE;
  return simt_capture_of(s) ? simt_allocate_in_graph(address, size, s) : allocate(address, size, DEVICE, 0);
}
API(CUresult) cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, void *pool, CUstream s) { return cuMemAllocAsync(address, size, s); }
// A variable that host code follows a pointer to.  What else its pages hold can be read by the host, too, from now on.
CUresult simt_share_variable(uint64_t address) {
  struct range range;
  TRY(find(address, &range));
  uint64_t first = range.start / PAGE * PAGE;
  if (mprotect((void *)first, whole_pages(range.end - first), PROT_READ | PROT_WRITE)) return CUDA_ERROR_OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  ranges[position(range.start) - 1].managed = true;
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}
API(CUresult) cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags) {
  READY();
  if (flags != 1 && flags != 2) return CUDA_ERROR_INVALID_VALUE;
  TRY(allocate(address, size, MANAGED, flags));
  return CUDA_SUCCESS;
}
API(CUresult) cuMemHostAlloc(void **address, size_t size, unsigned flags) { READY(); return allocate((uint64_t *)address, size, HOST, flags); }
API(CUresult) cuMemAllocHost_v2(void **address, size_t size) { READY(); return allocate((uint64_t *)address, size, HOST, 0); }
CUresult simt_free(uint64_t address) { return release(address, false); }
API(CUresult) cuMemFree_v2(CUdeviceptr address) {
  READY();
  return simt_is_graph_memory(address) ? simt_free_graph_memory(address) : release(address, false);
}
API(CUresult) cuMemFreeAsync(CUdeviceptr address, CUstream s) {
  READY();
  if (!simt_capture_of(s)) return cuMemFree_v2(address);
  struct work w = {FREE_WORK, .freed = address};
  return simt_is_graph_memory(address) ? simt_do(&w, s) : CUDA_ERROR_INVALID_VALUE;
}
API(CUresult) cuMemFreeHost(void *address) { BEGIN(); return release((uint64_t)address, true); }
API(CUresult) cuMemGetInfo_v2(size_t *free_, size_t *total) {
  READY();
  size_t taken = 0;
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < n_ranges; k++) taken += ranges[k].kind == HOST ? 0 : ranges[k].end - ranges[k].start;
  pthread_mutex_unlock(&lock);
  if (total) *total = device.memory;
  if (free_) *free_ = device.memory > taken ? device.memory - taken : 0;
  return CUDA_SUCCESS;
}

// ---- memory of the program that kernels are to reach: its pages become pages of device memory
API(CUresult) cuMemHostRegister_v2(void *host, size_t size, unsigned flags) {
  READY();
  uint64_t address, first = (uint64_t)host / PAGE * PAGE;
  struct range other;
  if (!host || !size) return CUDA_ERROR_INVALID_VALUE;
  if (inside(first) || known((uint64_t)host, &other)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  size_t pages = whole_pages((uint64_t)host + size - first);
  TRY(allocate(&address, pages, HOST, flags));
  memcpy(device.alias + (address - device.base), (void *)first, pages);
  // Moving the alias' pages leaves a hole there, so map the same file a second time by duplicating the mapping.
  void *twin = mremap(device.alias + (address - device.base), 0, pages, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)first);
  if (twin == MAP_FAILED) return release(address, true), CUDA_ERROR_OUT_OF_MEMORY;
  madvise(twin, pages, MADV_DOFORK), madvise(twin, pages, MADV_DODUMP);
  insert((struct range){(uint64_t)host, (uint64_t)host + size, HOST, (void *)(address + ((uint64_t)host - first)), pages, flags});
  return CUDA_SUCCESS;
}
API(CUresult) cuMemHostUnregister(void *host) {
  BEGIN();
  struct range range;
  if (inside((uint64_t)host) || !remove_range((uint64_t)host, &range)) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  uint64_t first = (uint64_t)host / PAGE * PAGE, address = (uint64_t)range.host / PAGE * PAGE;
  char *copy = malloc(range.host_size);
  if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(copy, (void *)first, range.host_size);
  mmap((void *)first, range.host_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memcpy((void *)first, copy, range.host_size);
  free(copy);
  return release(address, true);
}
API(CUresult) cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned flags) {
  READY();
  struct range range;
  if (!address || !known((uint64_t)host, &range) || range.kind == DEVICE) return CUDA_ERROR_INVALID_VALUE;
  *address = range.host ? (uint64_t)range.host + ((uint64_t)host - range.start) : (uint64_t)host;
  return CUDA_SUCCESS;
}
API(CUresult) cuMemHostGetFlags(unsigned *flags, void *host) {
  READY();
  struct range range;
  if (!flags || !known((uint64_t)host, &range) || range.kind != HOST) return CUDA_ERROR_INVALID_VALUE;
  *flags = range.flags | 2;  // CU_MEMHOSTALLOC_DEVICEMAP: all of it is mapped
  return CUDA_SUCCESS;
}

// ---- what is known about a pointer
API(CUresult) cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
  READY();
  struct range range;
  if (find(address, &range)) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = range.start;
  if (size) *size = range.end - range.start;
  return CUDA_SUCCESS;
}
enum {  // CUpointer_attribute
  CONTEXT = 1, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, BUFFER_ID = 7, IS_MANAGED, DEVICE_ORDINAL, RANGE_START = 11, RANGE_SIZE, MAPPED
};
static CUresult attribute(void *data, int which, CUdeviceptr address) {
  struct range range;
  bool is = !find(address, &range), managed = is && (range.kind == MANAGED || range.managed);
  uint64_t start = is && range.host ? (uint64_t)range.host : is ? range.start : 0;
  switch (which) {
    case CONTEXT: *(void **)data = NULL; break;
    case MEMORY_TYPE: *(unsigned *)data = !is ? 0 : range.kind == HOST ? 1 : 2; break;
    case DEVICE_POINTER: *(uint64_t *)data = is ? start + (address - range.start) : 0; break;
    case HOST_POINTER: *(uint64_t *)data = managed || is && range.kind == HOST ? address : 0; break;
    case BUFFER_ID: *(uint64_t *)data = start; break;
    case IS_MANAGED: *(unsigned *)data = managed; break;
    case DEVICE_ORDINAL: *(int *)data = is ? 0 : -2; break;
    case RANGE_START: *(uint64_t *)data = is ? range.start : 0; break;
    case RANGE_SIZE: *(size_t *)data = is ? range.end - range.start : 0; break;
    case MAPPED: *(unsigned *)data = is; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
  return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
API(CUresult) cuPointerGetAttribute(void *data, int which, CUdeviceptr address) {
  BEGIN();
  return data ? attribute(data, which, address) : CUDA_ERROR_INVALID_VALUE;
}
API(CUresult) cuPointerGetAttributes(unsigned n, int *which, void **data, CUdeviceptr address) {
  BEGIN();
  for (unsigned k = 0; k < n; k++)
    if (attribute(data[k], which[k], address) == CUDA_ERROR_NOT_SUPPORTED) return CUDA_ERROR_NOT_SUPPORTED;
  return CUDA_SUCCESS;
}

// ---- copies
static size_t extent(struct block block, size_t width, size_t height, size_t depth) {
  return ((depth - 1) * block.height + height - 1) * block.pitch + width;
}
CUresult simt_copy(struct block to, struct block from, size_t width, size_t height, size_t depth, CUstream stream) {
  struct work w = {COPY_WORK, .copy = {to, from, width, height, depth}};
  return width && height && depth ? simt_do(&w, stream) : CUDA_SUCCESS;
}
// Whether a copy stays in memory that this process has mapped: one that does not would end the program.
static bool mapped(void *at, size_t size) {
  unsigned char pages[1 << 12];
  uint64_t page = (uint64_t)at / PAGE * PAGE, end = (uint64_t)at + size;
  for (size_t n; page < end; page += n) {
    n = end - page < sizeof pages * PAGE ? end - page : sizeof pages * PAGE;
    if (mincore((void *)page, n, pages) && errno == ENOMEM) return false;
  }
  return true;
}
CUresult simt_copy_now(struct work *w, CUstream stream) {
  void *there, *here;
  int to_kind, from_kind;
  struct block to = w->copy.to, from = w->copy.from;
  size_t width = w->copy.width, height = w->copy.height, depth = w->copy.depth;
  if ((height > 1 || depth > 1) && (to.pitch < width || from.pitch < width)) return CUDA_ERROR_INVALID_VALUE;
  if (depth > 1 && (to.height < height || from.height < height)) return CUDA_ERROR_INVALID_VALUE;
  TRY(simt_resolve(to.at, extent(to, width, height, depth), &there, &to_kind));
  TRY(simt_resolve(from.at, extent(from, width, height, depth), &here, &from_kind));
  size_t read = extent(from, width, height, depth), written = extent(to, width, height, depth);
  if (from_kind < 0 && !mapped(here, read)) return simt_note_beyond("reads", from.at, read), CUDA_ERROR_INVALID_VALUE;
  if (to_kind < 0 && !mapped(there, written)) return simt_note_beyond("writes", to.at, written), CUDA_ERROR_INVALID_VALUE;
  for (size_t z = 0; z < depth; z++)
    for (size_t y = 0; y < height; y++)
      memmove((char *)there + (z * to.height + y) * to.pitch, (char *)here + (z * from.height + y) * from.pitch, width);
  char kind[5] = {from_kind < 0 || from_kind == HOST ? 'H' : 'D', 't', 'o', to_kind < 0 || to_kind == HOST ? 'H' : 'D', 0};
  simt_note_copy(kind, simt_stream_number(stream), w->copy.to, w->copy.from, width, height, depth);
  return CUDA_SUCCESS;
}
static CUresult copy(uint64_t to, uint64_t from, size_t n, CUstream stream) {
  if (n && (!to || !from)) return CUDA_ERROR_INVALID_VALUE;
  return simt_copy((struct block){to, n, 1}, (struct block){from, n, 1}, n, 1, 1, stream);
}
#define H (uint64_t)
API(CUresult) cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) { READY(); return copy(to, from, n, NULL); }
API(CUresult) cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) { READY(); return copy(to, from, n, s); }
API(CUresult) cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n) { READY(); return !n || inside(to) ? copy(to, H from, n, NULL) : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n) { READY(); return !n || inside(from) ? copy(H to, from, n, NULL) : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) { READY(); return copy(to, from, n, NULL); }
API(CUresult) cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) { READY(); return !n || inside(to) ? copy(to, H from, n, s) : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) { READY(); return !n || inside(from) ? copy(H to, from, n, s) : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) { READY(); return copy(to, from, n, s); }
API(CUresult) cuMemcpyPeer(CUdeviceptr to, CUcontext a, CUdeviceptr from, CUcontext b, size_t n) { READY(); return copy(to, from, n, NULL); }
API(CUresult) cuMemcpyPeerAsync(CUdeviceptr to, CUcontext a, CUdeviceptr from, CUcontext b, size_t n, CUstream s) { READY(); return copy(to, from, n, s); }

// ---- fills
static CUresult fill(uint64_t to, size_t pitch, uint32_t value, int bytes, size_t width, size_t height, CUstream stream) {
  struct work w = {FILL_WORK, .fill = {to, pitch, width, height, value, bytes}};
  return width && height ? simt_do(&w, stream) : CUDA_SUCCESS;
}
CUresult simt_fill_now(struct work *w, CUstream stream) {
  void *at;
  int kind, bytes = w->fill.bytes;
  uint64_t to = w->fill.to;
  size_t pitch = w->fill.pitch, width = w->fill.width, height = w->fill.height;
  uint32_t value = w->fill.value;
  if (!inside(to) || to % bytes) return CUDA_ERROR_INVALID_VALUE;
  TRY(simt_resolve(to, (height - 1) * pitch + width * bytes, &at, &kind));
  for (size_t y = 0; y < height; y++) {
    char *row = (char *)at + y * pitch;
    if (bytes == 1) memset(row, value, width);
    else
      for (size_t x = 0; x < width; x++) memcpy(row + x * bytes, &value, bytes);
  }
  simt_note_copy("memset", simt_stream_number(stream), (struct block){to, pitch, height}, (struct block){0, 0, 0}, width * bytes, height, 1);
  return CUDA_SUCCESS;
}
#define FILL(NAME, TYPE)                                                                                                   \
  API(CUresult) cuMemset##NAME##_v2(CUdeviceptr to, TYPE v, size_t n) { READY(); return fill(to, 0, v, sizeof v, n, 1, NULL); } \
  API(CUresult) cuMemset##NAME##Async(CUdeviceptr to, TYPE v, size_t n, CUstream s) { READY(); return fill(to, 0, v, sizeof v, n, 1, s); }
#define FILL2(NAME, TYPE)                                                                                     \
  API(CUresult) cuMemset##NAME##_v2(CUdeviceptr to, size_t pitch, TYPE v, size_t w, size_t h) { READY(); return fill(to, pitch, v, sizeof v, w, h, NULL); } \
  API(CUresult) cuMemset##NAME##Async(CUdeviceptr to, size_t pitch, TYPE v, size_t w, size_t h, CUstream s) { READY(); return fill(to, pitch, v, sizeof v, w, h, s); }
FILL(D8, unsigned char)
FILL(D16, unsigned short)
FILL(D32, unsigned)
FILL2(D2D8, unsigned char)
FILL2(D2D16, unsigned short)
FILL2(D2D32, unsigned)

// ---- hints, and the pool that streams allocate from
API(CUresult) cuMemPrefetchAsync(CUdeviceptr p, size_t n, CUdevice d, CUstream s) { void *at; int kind; READY(); return simt_resolve(p, n, &at, &kind); }
API(CUresult) cuMemPrefetchAsync_v2(CUdeviceptr p, size_t n, uint64_t location, unsigned flags, CUstream s) { void *at; int kind; READY(); return simt_resolve(p, n, &at, &kind); }
API(CUresult) cuMemAdvise(CUdeviceptr p, size_t n, int advice, CUdevice d) { void *at; int kind; READY(); return simt_resolve(p, n, &at, &kind); }
API(CUresult) cuMemAdvise_v2(CUdeviceptr p, size_t n, int advice, uint64_t location) { void *at; int kind; READY(); return simt_resolve(p, n, &at, &kind); }
static struct pool { uint64_t attributes[16]; } pool = {{1, 1, 1, 0}};
API(CUresult) cuDeviceGetDefaultMemPool(struct pool **out, CUdevice d) { BEGIN(); *out = &pool; return CUDA_SUCCESS; }
API(CUresult) cuDeviceGetMemPool(struct pool **out, CUdevice d) { BEGIN(); *out = &pool; return CUDA_SUCCESS; }
API(CUresult) cuDeviceSetMemPool(CUdevice d, struct pool *p) { BEGIN(); return CUDA_SUCCESS; }
API(CUresult) cuMemPoolCreate(struct pool **out, const void *properties) { BEGIN(); *out = calloc(1, sizeof pool); return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY; }
API(CUresult) cuMemPoolDestroy(struct pool *p) { BEGIN(); if (p != &pool) free(p); return CUDA_SUCCESS; }
API(CUresult) cuMemPoolTrimTo(struct pool *p, size_t n) { BEGIN(); return CUDA_SUCCESS; }
static bool wide(int which) { return which >= 4; }  // thresholds and sizes; the others are flags
API(CUresult) cuMemPoolSetAttribute(struct pool *p, int which, void *value) {
  BEGIN();
  if (which < 1 || which > 15) return CUDA_ERROR_INVALID_VALUE;
  p->attributes[which] = wide(which) ? *(uint64_t *)value : *(unsigned *)value;
  return CUDA_SUCCESS;
}
API(CUresult) cuMemPoolGetAttribute(struct pool *p, int which, void *value) {
  BEGIN();
  if (which < 1 || which > 15) return CUDA_ERROR_INVALID_VALUE;
  if (wide(which)) *(uint64_t *)value = p->attributes[which];
  else *(unsigned *)value = p->attributes[which];
  return CUDA_SUCCESS;
}
