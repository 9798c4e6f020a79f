// What the files of libcuda.so.1 share.  Handles of CUDA are pointers to structures of ours.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "protocol.h"
#include "calls.h"

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef int CUdevice;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct array *CUarray;

// ---- wire.c: the connection to the server
struct device {
  uint64_t base, size, memory;
  int timed;
  int attributes[N_ATTRIBUTES];
  char name[256];
  char *alias;    // where this process can read and write all of device memory
  int access;     // what it may do with memory at the addresses of the device that is not the host's
  double clock;   // seconds of modelled time
};
extern struct device device;
struct answer {
  void *bytes;  // what follows the fields of the reply, to be freed
  size_t size;
};
CUresult simt_begin(void);  // connects once
CUresult simt_ask(int op, const void *request, size_t size, const void *tail, size_t tail_size, void *reply,
                  size_t reply_size, struct answer *rest);
CUresult simt_state(void);  // the error that all calls give since a kernel went wrong, or the server
void simt_stick(CUresult error);
void simt_reset(void);
double simt_now(void);  // modelled time if launches are timed, else time of this computer; seconds

#define ASK(op, request, reply) simt_ask(op, request, sizeof *(request), NULL, 0, reply, sizeof *(reply), NULL)
#define TELL(op, request) simt_ask(op, request, sizeof *(request), NULL, 0, NULL, 0, NULL)

#define BEGIN()                             \
  ENTER();                                  \
  {                                         \
    CUresult begun_ = simt_begin();         \
    if (begun_) return begun_;              \
  }
#define READY()                             \
  BEGIN();                                  \
  {                                         \
    CUresult state_ = simt_state();         \
    if (state_) return state_;              \
  }
#define TRY(call)                           \
  {                                         \
    CUresult tried_ = (call);               \
    if (tried_) return tried_;              \
  }

// ---- memory.c
CUresult simt_free(uint64_t address);
CUresult simt_allocate(uint64_t *address, size_t size, int kind);
CUresult simt_share_variable(uint64_t address);
CUresult simt_resolve(uint64_t address, size_t size, void **at, int *kind);  // kind -1: this process's own memory
struct block {  // rows of bytes in memory, for copies
  uint64_t at;
  size_t pitch, height;  // bytes from row to row, rows from slice to slice
};
CUresult simt_copy(struct block to, struct block from, size_t width, size_t height, size_t depth, CUstream stream);
void simt_note_copy(const char *kind, unsigned stream, struct block to, struct block from, size_t width, size_t height, size_t depth);  // in wire.c
void simt_note_beyond(const char *does, uint64_t at, size_t size);  // likewise

// ---- stream.c
struct graph;
struct stream {
  unsigned flags;
  int priority;
  unsigned number;
  struct graph *capture;  // to which its work is added, if any
  struct stream *next;    // among those that add to graphs
};
unsigned simt_stream_number(CUstream stream);
bool simt_is_own(CUstream stream);  // not one of the default streams
struct graph *simt_capture_of(CUstream stream);
CUresult simt_record_now(CUevent event);

// ---- graph.c: what streams do, at once or when a graph is launched
struct shape { unsigned grid[3], block[3], shared; bool cooperative; };
struct work {
  enum { KERNEL_WORK, COPY_WORK, FILL_WORK, HOST_WORK, GRAPH_WORK, EMPTY_WORK, WAIT_WORK, RECORD_WORK, ALLOCATE_WORK = 10, FREE_WORK } kind;  // CUgraphNodeType
  union {
    struct { CUfunction function; struct shape shape; size_t size; char *bytes; void **parameters; } kernel;
    struct { struct block to, from; size_t width, height, depth; } copy;
    struct { CUdeviceptr to; size_t pitch, width, height; uint32_t value; int bytes; } fill;
    struct { void (*function)(void *); void *data; } host;
    struct graph *child;
    CUevent event;
    struct graph_memory *memory;
    uint64_t freed;
  };
};
CUresult simt_do(struct work *work, CUstream stream);
CUresult simt_launch(struct work *work, CUstream stream);  // these three are how it is done
CUresult simt_copy_now(struct work *work, CUstream stream);
CUresult simt_fill_now(struct work *work, CUstream stream);
void simt_join_capture(CUstream stream, struct graph *graph);
void simt_leave_capture(CUstream stream);

// ---- graph_memory.c
struct graph_memory;
void simt_hold_memory(struct graph_memory *memory, int more);  // nodes that allocate it
bool simt_use_memory(struct graph_memory *memory, bool live);  // whether it was in use before
bool simt_is_graph_memory(uint64_t address);
CUresult simt_free_graph_memory(uint64_t address);
CUresult simt_allocate_in_graph(uint64_t *address, size_t size, CUstream stream);

// ---- the others
struct array {
  uint64_t address;
  size_t width, height, depth;  // height and depth 0: one and two dimensions
  unsigned format, channels, flags;
  size_t texel, pitch;
};
struct block simt_array_block(CUarray array, size_t x, size_t y, size_t z);
struct function {
  CUmodule module;
  char *name;
  struct function_reply is;
  struct { uint32_t offset, size; } *parameters;
  int dynamic, carveout;
  struct function *next;
};
CUresult simt_multiprocessors(int *count);
