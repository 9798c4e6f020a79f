// Launches, functions of the host in streams, occupancy.
#include "simt.h"

enum { LARGEST = 32768 };  // bytes of parameters
enum { COOPERATIVE = 2, CLUSTER = 4 };  // CUlaunchAttributeID

static CUresult pack(struct function *f, void **parameters, void **extra, char *bytes, size_t *size) {
  *size = 0;
  if (parameters) {
    for (unsigned k = 0; k < f->is.parameters; k++) {
      size_t end = f->parameters[k].offset + f->parameters[k].size;
      if (end > LARGEST) return CUDA_ERROR_INVALID_VALUE;
      memcpy(bytes + f->parameters[k].offset, parameters[k], f->parameters[k].size);
      if (*size < end) *size = end;
    }
  } else if (extra) {
    const void *buffer = NULL;
    for (size_t k = 0; extra[k]; k += 2) {
      if (extra[k] == (void *)1) buffer = extra[k + 1];             // CU_LAUNCH_PARAM_BUFFER_POINTER
      if (extra[k] == (void *)2) *size = *(size_t *)extra[k + 1];  // CU_LAUNCH_PARAM_BUFFER_SIZE
    }
    if (!buffer || *size > LARGEST) return CUDA_ERROR_INVALID_VALUE;
    memcpy(bytes, buffer, *size);
  } else if (f->is.parameters) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
static CUresult launch(struct function *f, struct shape shape, CUstream stream, void **parameters, void **extra) {
  char bytes[LARGEST] = {0};
  struct work w = {KERNEL_WORK, .kernel = {f, shape, 0, bytes}};
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  TRY(pack(f, parameters, extra, bytes, &w.kernel.size));
  return simt_do(&w, stream);
}
CUresult simt_launch(struct work *w, CUstream stream) {
  struct answer printed;
  struct function *f = w->kernel.function;
  struct shape shape = w->kernel.shape;
  int most = f->dynamic ? f->dynamic + (int)f->is.shared : device.attributes[8];
  if (shape.shared + f->is.shared > (unsigned)most) {
    simt_note_refused(f, shape.grid, shape.block, shape.shared, most - f->is.shared);
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct launch_request request = {f->is.function, {0}, {0}, shape.shared, simt_stream_number(stream), shape.cooperative};
  memcpy(request.grid, shape.grid, sizeof shape.grid), memcpy(request.block, shape.block, sizeof shape.block);
  struct launch_reply reply = {0};
  CUresult result = simt_ask(OP_LAUNCH, &request, sizeof request, w->kernel.bytes, w->kernel.size, &reply, sizeof reply, &printed);
  device.clock += reply.seconds;
  if (printed.size) {  // by printf, then by assert
    fwrite(printed.bytes, 1, reply.printed, stdout);
    fwrite((char *)printed.bytes + reply.printed, 1, printed.size - reply.printed, stderr);
  }
  free(printed.bytes);
  if (!reply.sticky) return result;
  simt_stick(result);  // what goes wrong in a kernel is said by the calls after it
  return CUDA_SUCCESS;
}
#define SHAPE(cooperative) (struct shape){{gx, gy, gz}, {bx, by, bz}, shared, cooperative}
API(CUresult) cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **p, void **extra) {
  READY();
  return launch(f, SHAPE(false), s, p, extra);
}
API(CUresult) cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **p) {
  READY();
  return launch(f, SHAPE(true), s, p, NULL);
}
struct attribute { int which, pad; union { char bytes[64]; int number; unsigned size[3]; } value; };
struct config { unsigned grid[3], block[3], shared; CUstream stream; struct attribute *attributes; unsigned n; };
API(CUresult) cuLaunchKernelEx(const struct config *c, CUfunction f, void **p, void **extra) {
  READY();
  struct shape shape = {{c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, c->shared, false};
  for (unsigned k = 0; k < c->n; k++) {
    const struct attribute *a = c->attributes + k;
    if (a->which == COOPERATIVE) shape.cooperative = a->value.number;
    if (a->which == CLUSTER && (uint64_t)a->value.size[0] * a->value.size[1] * a->value.size[2] > 1) return simt_unsupported("cuLaunchKernelEx with clusters");
  }
  return launch(f, shape, c->stream, p, extra);
}
API(CUresult) cuLaunchHostFunc(CUstream s, void (*function)(void *), void *data) {
  READY();
  struct work w = {HOST_WORK, .host = {function, data}};
  return simt_do(&w, s);
}
API(CUresult) cuStreamAddCallback(CUstream s, void (*function)(CUstream, CUresult, void *), void *data, unsigned flags) {
  READY();
  if (simt_capture_of(s)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  function(s, CUDA_SUCCESS, data);
  return CUDA_SUCCESS;
}

// ---- occupancy
static CUresult blocks(int *n, CUfunction f, int threads, size_t dynamic) {
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  if (!n || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  struct occupancy_request request = {f->is.function, threads, dynamic};
  struct occupancy_reply reply;
  TRY(ASK(OP_OCCUPANCY, &request, &reply));
  *n = reply.blocks;
  return CUDA_SUCCESS;
}
API(CUresult) cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t dynamic) { READY(); return blocks(n, f, threads, dynamic); }
API(CUresult) cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, CUfunction f, int threads, size_t dynamic, unsigned flags) { READY(); return blocks(n, f, threads, dynamic); }
API(CUresult) cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f, size_t (*need)(int), size_t dynamic, int limit, unsigned flags) {
  READY();
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  int most = f->is.threads, best = 0, n, sms;
  simt_multiprocessors(&sms);
  if (limit && limit < most) most = limit;
  for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
    TRY(blocks(&n, f, threads, need ? need(threads) : dynamic));
    if (n * threads > best) best = n * threads, *block = threads, *grid = n * sms;
  }
  return best ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}
API(CUresult) cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, size_t (*need)(int), size_t dynamic, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, need, dynamic, limit, 0);
}
API(CUresult) cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, CUfunction f, int n, int threads) {
  READY();
  int fit;
  size_t low = 0, high = device.attributes[97];
  while (low < high) {
    size_t middle = (low + high + 1) / 2;
    TRY(blocks(&fit, f, threads, middle));
    if (fit >= n) low = middle;
    else high = middle - 1;
  }
  *dynamic = low;
  return CUDA_SUCCESS;
}
