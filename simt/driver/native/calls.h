// What libcuda.so.1 offers to libcudart.so, besides CUDA's driver API: a record of calls.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define API(result) __attribute__((visibility("default"))) result

struct simt_call {
  const char *name;
  uint64_t start;
};
API(struct simt_call) simt_enter(const char *name);
API(void) simt_leave(struct simt_call *call);
API(int) simt_unsupported(const char *name);  // counts a call of a stub; CUDA_ERROR_NOT_SUPPORTED
API(void) simt_note_refused(const void *kernel, const unsigned *grid, const unsigned *block, size_t shared, size_t most);  // a launch of a CUfunction
API(int) simt_send(int op, const void *bytes, size_t size);
// Nodes of graphs: what a call adds to the stream that simt_recorder gives becomes a node of a graph, or replaces one
// (graph NULL, or an executable one that has a copy of it).
API(void *) simt_recorder(void);
API(int) simt_add_recorded(void *recorder, int result, void *graph, void **node, void *const *after, size_t n);
API(int) simt_set_recorded(void *recorder, int result, void *graph, void *node);
API(void) simt_say(const char *format, ...);  // one line for the user

// At the start of a function of the API: its call is recorded, unless another one of the API makes it.
#define ENTER() __attribute__((cleanup(simt_leave), unused)) struct simt_call call_ = simt_enter(__func__)
