// Streams and events.  Everything is done when a call returns, so streams only have numbers and events a time.
#include "simt.h"

static unsigned n_streams;
enum { DEFAULT_STREAM = 7, FIRST_STREAM = 13 };  // as NVIDIA's tools number them
struct event { double at; unsigned flags; bool recorded; struct graph *graph; };
bool simt_is_own(CUstream s) { return (uintptr_t)s > 2; }  // 0, 1 and 2 are the default streams
struct graph *simt_capture_of(CUstream s) { return simt_is_own(s) ? s->capture : NULL; }
unsigned simt_stream_number(CUstream s) { return simt_is_own(s) ? s->number : DEFAULT_STREAM; }

API(CUresult) cuStreamCreateWithPriority(CUstream *s, unsigned flags, int priority) {
  READY();
  if (!s || !(*s = calloc(1, sizeof **s))) return s ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
  priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
  **s = (struct stream){flags, priority, FIRST_STREAM + __sync_fetch_and_add(&n_streams, 1)};
  return CUDA_SUCCESS;
}
API(CUresult) cuStreamCreate(CUstream *s, unsigned flags) { return cuStreamCreateWithPriority(s, flags, 0); }
API(CUresult) cuStreamDestroy_v2(CUstream s) {
  BEGIN();
  if (!simt_is_own(s)) return CUDA_SUCCESS;
  simt_leave_capture(s);
  free(s);
  return CUDA_SUCCESS;
}
API(CUresult) cuStreamSynchronize(CUstream s) { BEGIN(); return simt_state(); }
API(CUresult) cuStreamQuery(CUstream s) { BEGIN(); return simt_state(); }
API(CUresult) cuStreamWaitEvent(CUstream s, struct event *e, unsigned flags) {
  READY();
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (e->graph) simt_join_capture(s, e->graph);
  return CUDA_SUCCESS;
}
API(CUresult) cuStreamAttachMemAsync(CUstream s, CUdeviceptr p, size_t n, unsigned flags) { READY(); return CUDA_SUCCESS; }
API(CUresult) cuStreamGetFlags(CUstream s, unsigned *flags) { READY(); *flags = simt_is_own(s) ? s->flags : 0; return CUDA_SUCCESS; }
API(CUresult) cuStreamGetPriority(CUstream s, int *priority) { READY(); *priority = simt_is_own(s) ? s->priority : 0; return CUDA_SUCCESS; }
API(CUresult) cuStreamGetId(CUstream s, uint64_t *id) { READY(); *id = simt_stream_number(s); return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice d);
CUresult cuCtxGetCurrent(CUcontext *context);
API(CUresult) cuStreamGetCtx(CUstream s, CUcontext *context) {
  READY();
  TRY(cuCtxGetCurrent(context));
  return *context ? CUDA_SUCCESS : cuDevicePrimaryCtxRetain(context, 0);
}
API(CUresult) cuStreamGetDevice(CUstream s, CUdevice *d) { READY(); *d = 0; return CUDA_SUCCESS; }

enum { NO_TIMING = 2 };  // CU_EVENT_DISABLE_TIMING
API(CUresult) cuEventCreate(struct event **e, unsigned flags) {
  READY();
  if (!e || !(*e = calloc(1, sizeof **e))) return e ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
  (*e)->flags = flags;
  return CUDA_SUCCESS;
}
API(CUresult) cuEventDestroy_v2(struct event *e) { BEGIN(); free(e); return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }
API(CUresult) cuEventRecord(struct event *e, CUstream s) {
  READY();
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  e->graph = simt_capture_of(s);
  return e->graph ? CUDA_SUCCESS : simt_record_now(e);
}
CUresult simt_record_now(CUevent e) {
  e->at = simt_now(), e->recorded = true;
  return CUDA_SUCCESS;
}
API(CUresult) cuEventRecordWithFlags(struct event *e, CUstream s, unsigned flags) { return cuEventRecord(e, s); }
API(CUresult) cuEventSynchronize(struct event *e) { READY(); return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }
API(CUresult) cuEventQuery(struct event *e) { READY(); return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }
API(CUresult) cuEventElapsedTime_v2(float *ms, struct event *a, struct event *b) {
  READY();
  if (!ms || !a || !b || !a->recorded || !b->recorded || (a->flags | b->flags) & NO_TIMING) return CUDA_ERROR_INVALID_HANDLE;
  *ms = (b->at - a->at) * 1e3;
  return CUDA_SUCCESS;
}
API(CUresult) cuEventElapsedTime(float *ms, struct event *a, struct event *b) { return cuEventElapsedTime_v2(ms, a, b); }
