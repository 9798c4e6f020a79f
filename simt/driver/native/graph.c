// Graphs: work that streams captured, or that was added node by node; a launch does it in an order that its edges allow.
#include "simt.h"

struct node {
  struct work work;
  struct node **after;  // what has to be done before
  size_t n_after;
  struct node *original;  // that this one is a copy of
  bool placed;
};
struct object { void *data; void (*destroy)(void *); unsigned count; };  // of the program: goes with its last owner
struct owned { struct object *object; unsigned count; struct owned *next; };
struct graph {
  struct node **nodes;
  size_t n, room;
  struct owned *owned;
  bool frees;  // a launch frees what the one before has left
};
static struct stream *capturing;  // streams that add their work to graphs

// ---- work: what streams do, at once or when a graph is launched
static void drop_graph(struct graph *g);
static void drop(struct work *w) {
  if (w->kind == KERNEL_WORK) free(w->kernel.bytes), free(w->kernel.parameters);
  if (w->kind == GRAPH_WORK) drop_graph(w->child);
  if (w->kind == ALLOCATE_WORK) simt_hold_memory(w->memory, -1);
}
static struct graph *copy_graph(struct graph *g);
static CUresult keep(struct work *to, const struct work *from) {  // with memory of its own
  *to = *from;
  if (from->kind == KERNEL_WORK) {
    struct function *f = from->kernel.function;
    to->kernel.bytes = malloc(from->kernel.size + 1);
    to->kernel.parameters = calloc(f->is.parameters + 1, sizeof(void *));
    if (!to->kernel.bytes || !to->kernel.parameters) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(to->kernel.bytes, from->kernel.bytes, from->kernel.size);
    for (unsigned k = 0; k < f->is.parameters; k++) to->kernel.parameters[k] = to->kernel.bytes + f->parameters[k].offset;
  }
  if (from->kind == ALLOCATE_WORK) simt_hold_memory(from->memory, 1);
  if (from->kind == GRAPH_WORK) return (to->child = copy_graph(from->child)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  return CUDA_SUCCESS;
}
static CUresult run_graph(struct graph *g, CUstream s);
static CUresult perform(struct work *w, CUstream s) {
  switch (w->kind) {
    case KERNEL_WORK: return simt_launch(w, s);
    case COPY_WORK: return simt_copy_now(w, s);
    case FILL_WORK: return simt_fill_now(w, s);
    case HOST_WORK: w->host.function(w->host.data); return CUDA_SUCCESS;
    case GRAPH_WORK: return run_graph(w->child, s);
    case RECORD_WORK: return simt_record_now(w->event);
    case ALLOCATE_WORK: simt_use_memory(w->memory, true); return CUDA_SUCCESS;
    case FREE_WORK: return simt_free_graph_memory(w->freed);
    default: return CUDA_SUCCESS;  // empty, and waiting for events: all is done in order
  }
}

// ---- nodes
static CUresult add(struct graph *g, const struct work *w, struct node **made) {
  struct node *new = calloc(1, sizeof *new);
  if (g->n == g->room) g->nodes = realloc(g->nodes, (g->room = g->room ? 2 * g->room : 16) * sizeof *g->nodes);
  if (!new || !g->nodes) return CUDA_ERROR_OUT_OF_MEMORY;
  TRY(keep(&new->work, w));
  g->nodes[g->n++] = new;
  if (made) *made = new;
  return CUDA_SUCCESS;
}
static CUresult depend(struct node *n, struct node *const *on, size_t count) {
  if (!count) return CUDA_SUCCESS;
  struct node **all = realloc(n->after, (n->n_after + count) * sizeof *all);
  if (!all) return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(all + n->n_after, on, count * sizeof *all);
  n->after = all, n->n_after += count;
  return CUDA_SUCCESS;
}
static void release(struct object *object, unsigned count) {
  if ((object->count -= count)) return;
  object->destroy(object->data);
  free(object);
}
static CUresult own(struct graph *g, struct object *object, unsigned count) {
  struct owned *made = malloc(sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  *made = (struct owned){object, count, g->owned}, g->owned = made;
  return CUDA_SUCCESS;
}
static void drop_node(struct node *n) { drop(&n->work), free(n->after), free(n); }
static void drop_graph(struct graph *g) {
  for (size_t k = 0; k < g->n; k++) drop_node(g->nodes[k]);
  for (struct owned *each = g->owned, *next; each; each = next) {
    next = each->next;
    if (each->count) release(each->object, each->count);
    free(each);
  }
  free(g->nodes), free(g);
}
static struct node *copy_of(struct graph *g, struct node *original) {
  for (size_t k = 0; k < g->n; k++)
    if (g->nodes[k]->original == original) return g->nodes[k];
  return NULL;
}
static CUresult copy_into(struct graph *to, struct graph *from) {
  for (size_t k = 0; k < from->n; k++) {
    struct node *made;
    TRY(add(to, &from->nodes[k]->work, &made));
    made->original = from->nodes[k];
  }
  for (size_t k = 0; k < from->n; k++)
    for (size_t m = 0; m < from->nodes[k]->n_after; m++) {
      struct node *on = copy_of(to, from->nodes[k]->after[m]);
      TRY(depend(to->nodes[k], &on, 1));
    }
  for (struct owned *each = from->owned; each; each = each->next) {
    if (!each->count) continue;
    TRY(own(to, each->object, each->count));
    each->object->count += each->count;
  }
  return CUDA_SUCCESS;
}
static struct graph *copy_graph(struct graph *g) {
  struct graph *made = calloc(1, sizeof *made);
  if (made && copy_into(made, g)) {
    drop_graph(made);
    return NULL;
  }
  return made;
}
// Put the nodes into an order that their edges allow: that in which they were added, as far as it does.
static size_t place(struct node *n, struct node **order, size_t at) {
  if (n->placed) return at;
  n->placed = true;
  for (size_t k = 0; k < n->n_after; k++) at = place(n->after[k], order, at);
  order[at] = n;
  return at + 1;
}
static CUresult sort(struct graph *g) {
  struct node **order = malloc((g->n + 1) * sizeof *order);
  if (!order) return CUDA_ERROR_OUT_OF_MEMORY;
  size_t at = 0;
  for (size_t k = 0; k < g->n; k++) g->nodes[k]->placed = false;
  for (size_t k = 0; k < g->n; k++) at = place(g->nodes[k], order, at);
  free(g->nodes);
  g->nodes = order, g->room = g->n + 1;
  for (size_t k = 0; k < g->n; k++)
    if (g->nodes[k]->work.kind == GRAPH_WORK) TRY(sort(g->nodes[k]->work.child));
  return CUDA_SUCCESS;
}
static CUresult run_graph(struct graph *g, CUstream s) {
  for (size_t k = 0; k < g->n; k++) {  // what a launch has left must be freed before the next one
    struct work *w = &g->nodes[k]->work;
    if (w->kind != ALLOCATE_WORK || !simt_use_memory(w->memory, false) || g->frees) continue;
    simt_use_memory(w->memory, true);
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t k = 0; k < g->n; k++) TRY(perform(&g->nodes[k]->work, s));
  return CUDA_SUCCESS;
}

// ---- capture: each node waits for the one before, as if there were one stream
static CUresult capture(struct graph *g, const struct work *w) {
  struct node *before = g->n ? g->nodes[g->n - 1] : NULL, *made;
  TRY(add(g, w, &made));
  return before ? depend(made, &before, 1) : CUDA_SUCCESS;
}
CUresult simt_do(struct work *w, CUstream s) {
  struct graph *g = simt_capture_of(s);
  return g ? capture(g, w) : perform(w, s);
}
static CUresult begin(CUstream s, struct graph *g) {
  if (!g) return CUDA_ERROR_OUT_OF_MEMORY;
  s->capture = g, s->next = capturing, capturing = s;
  return CUDA_SUCCESS;
}
static CUstream stream_of(struct graph *g) {
  CUstream s = capturing;
  while (s && s->capture != g) s = s->next;
  return s;
}
// A stream that waits for an event of a capture takes part in it from then on.
void simt_join_capture(CUstream s, struct graph *g) {
  if (simt_is_own(s) && !s->capture && stream_of(g)) begin(s, g);
}
void simt_leave_capture(CUstream s) {
  CUstream *each = &capturing;
  while (*each && *each != s) each = &(*each)->next;
  if (*each) *each = s->next, s->capture = NULL;
}
API(CUresult) cuStreamBeginCapture_v2(CUstream s, int mode) {
  READY();
  if (!simt_is_own(s)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (s->capture) return CUDA_ERROR_ILLEGAL_STATE;
  return begin(s, calloc(1, sizeof(struct graph)));
}
API(CUresult) cuStreamBeginCapture(CUstream s) { return cuStreamBeginCapture_v2(s, 0); }
API(CUresult) cuStreamBeginCaptureToGraph(CUstream s, struct graph *g, struct node *const *after, const void *edges, size_t n, int mode) {
  READY();
  if (!simt_is_own(s)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (!g || s->capture) return g ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
  return begin(s, g);
}
API(CUresult) cuStreamEndCapture(CUstream s, struct graph **g) {
  READY();
  struct graph *made = simt_capture_of(s);
  if (!made) return CUDA_ERROR_ILLEGAL_STATE;
  for (CUstream each; (each = stream_of(made));) simt_leave_capture(each);
  if (g) *g = made;
  return CUDA_SUCCESS;
}
API(CUresult) cuStreamIsCapturing(CUstream s, int *status) { READY(); *status = simt_capture_of(s) != NULL; return CUDA_SUCCESS; }
API(CUresult) cuThreadExchangeStreamCaptureMode(int *mode) { READY(); return CUDA_SUCCESS; }
API(CUresult) cuStreamGetCaptureInfo_v2(CUstream s, int *status, uint64_t *id, struct graph **g, struct node ***after, size_t *n) {
  READY();
  struct graph *made = simt_capture_of(s);
  *status = made != NULL;
  if (id) *id = (uintptr_t)made;
  if (g) *g = made;
  if (n) *n = made && made->n;
  if (after && made && made->n) *after = made->nodes + made->n - 1;
  return CUDA_SUCCESS;
}
API(CUresult) cuStreamGetCaptureInfo_v3(CUstream s, int *status, uint64_t *id, struct graph **g, struct node ***after, const void **edges, size_t *n) {
  if (edges) *edges = NULL;
  return cuStreamGetCaptureInfo_v2(s, status, id, g, after, n);
}
API(CUresult) cuStreamGetCaptureInfo(CUstream s, int *status, uint64_t *id) { return cuStreamGetCaptureInfo_v2(s, status, id, NULL, NULL, NULL); }

// ---- graphs
API(CUresult) cuGraphCreate(struct graph **g, unsigned flags) { READY(); return (*g = calloc(1, sizeof **g)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY; }
API(CUresult) cuGraphDestroy(struct graph *g) {
  BEGIN();
  if (!g) return CUDA_ERROR_INVALID_VALUE;
  drop_graph(g);
  return CUDA_SUCCESS;
}
API(CUresult) cuGraphClone(struct graph **made, struct graph *g) { READY(); return g && (*made = copy_graph(g)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuGraphNodeFindInClone(struct node **found, struct node *n, struct graph *g) { READY(); return (*found = copy_of(g, n)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
static CUresult list(struct node **out, size_t *n, struct node **nodes, size_t count, bool roots) {
  size_t found = 0;
  for (size_t k = 0; k < count; k++)
    if (!roots || !nodes[k]->n_after) {
      if (out && found < *n) out[found] = nodes[k];
      found++;
    }
  *n = found;
  return CUDA_SUCCESS;
}
API(CUresult) cuGraphGetNodes(struct graph *g, struct node **nodes, size_t *n) { READY(); return g && n ? list(nodes, n, g->nodes, g->n, false) : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuGraphGetRootNodes(struct graph *g, struct node **nodes, size_t *n) { READY(); return g && n ? list(nodes, n, g->nodes, g->n, true) : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuGraphNodeGetDependencies(struct node *of, struct node **nodes, size_t *n) { READY(); return of && n ? list(nodes, n, of->after, of->n_after, false) : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuGraphNodeGetType(struct node *n, int *type) { READY(); *type = n->work.kind; return CUDA_SUCCESS; }
API(CUresult) cuGraphAddDependencies(struct graph *g, struct node *const *from, struct node *const *to, size_t n) {
  READY();
  for (size_t k = 0; k < n; k++) TRY(depend(to[k], from + k, 1));
  return CUDA_SUCCESS;
}
API(CUresult) cuGraphAddDependencies_v2(struct graph *g, struct node *const *from, struct node *const *to, const void *edges, size_t n) { return cuGraphAddDependencies(g, from, to, n); }

// ---- a node is what a stream would capture; the runtime adds its nodes so, too
struct recorder { struct stream stream; struct graph graph; };
API(void *) simt_recorder(void) {
  struct recorder *made = calloc(1, sizeof *made);
  if (made) made->stream.capture = &made->graph;
  return made;
}
static CUresult recorded(struct recorder *r, CUresult result, struct work *work) {
  if (!result && r->graph.n != 1) result = CUDA_ERROR_INVALID_VALUE;  // nothing to do
  if (!result) {
    *work = r->graph.nodes[0]->work;
    r->graph.nodes[0]->work.kind = EMPTY_WORK;
  }
  for (size_t k = 0; k < r->graph.n; k++) drop_node(r->graph.nodes[k]);
  free(r->graph.nodes), free(r);
  return result;
}
API(int) simt_add_recorded(void *recorder, int result, void *graph, void **node, void *const *after, size_t n) {
  struct work work;
  struct node *made;
  TRY(recorded(recorder, result, &work));
  CUresult added = graph ? add(graph, &work, &made) : CUDA_ERROR_INVALID_VALUE;
  drop(&work);
  if (added) return added;
  if (node) *node = made;
  return depend(made, (struct node *const *)after, n);
}
API(int) simt_set_recorded(void *recorder, int result, void *graph, void *node) {
  struct work work;
  TRY(recorded(recorder, result, &work));
  struct node *found = graph ? copy_of(graph, node) : node;  // of an executable graph, or the node itself
  if (!found || found->work.kind != work.kind) {
    drop(&work);
    return CUDA_ERROR_INVALID_VALUE;
  }
  drop(&found->work);
  found->work = work;
  return CUDA_SUCCESS;
}
#define NODE struct node **node, struct graph *g, struct node *const *after, size_t n
#define ADD(call)                                                                                     \
  READY();                                                                                            \
  CUstream to = simt_recorder();                                                                      \
  return to ? simt_add_recorded(to, call, g, (void **)node, (void *const *)after, n) : CUDA_ERROR_OUT_OF_MEMORY;
#define SET(call, exec)                                                                               \
  READY();                                                                                            \
  CUstream to = simt_recorder();                                                                      \
  return to ? simt_set_recorded(to, call, exec, node) : CUDA_ERROR_OUT_OF_MEMORY;
struct kernel_node { CUfunction function; unsigned grid[3], block[3], shared; void **parameters, **extra; CUfunction kernel; void *context; };
struct fill_node { CUdeviceptr to; size_t pitch; unsigned value, bytes; size_t width, height; };
struct host_node { void (*function)(void *); void *data; };
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuMemcpy3DAsync_v2(const void *, CUstream);
static CUresult kernel_call(CUfunction f, const struct kernel_node *p, CUstream to) {
  return cuLaunchKernel(f, p->grid[0], p->grid[1], p->grid[2], p->block[0], p->block[1], p->block[2], p->shared, to, p->parameters, p->extra);
}
static CUresult fill_call(const struct fill_node *p, CUstream to) {
  struct work w = {FILL_WORK, .fill = {p->to, p->pitch, p->width, p->height, p->value, p->bytes}};
  return simt_do(&w, to);
}
static CUresult work_call(struct work w, CUstream to) { return simt_do(&w, to); }
#define HOST_CALL(p) work_call((struct work){HOST_WORK, .host = {(p)->function, (p)->data}}, to)
#define NEWEST(p) ((p)->function ? (p)->function : (p)->kernel)
API(CUresult) cuGraphAddKernelNode(NODE, const struct kernel_node *p) { ADD(kernel_call(p->function, p, to)) }
API(CUresult) cuGraphAddKernelNode_v2(NODE, const struct kernel_node *p) { ADD(kernel_call(NEWEST(p), p, to)) }
API(CUresult) cuGraphAddMemcpyNode(NODE, const void *p, CUcontext c) { ADD(cuMemcpy3DAsync_v2(p, to)) }
API(CUresult) cuGraphAddMemsetNode(NODE, const struct fill_node *p, CUcontext c) { ADD(fill_call(p, to)) }
API(CUresult) cuGraphAddHostNode(NODE, const struct host_node *p) { ADD(HOST_CALL(p)) }
API(CUresult) cuGraphAddChildGraphNode(NODE, struct graph *child) { ADD(work_call((struct work){GRAPH_WORK, .child = child}, to)) }
struct allocate_node { char pool[88]; const void *access; size_t n; size_t size; uint64_t address; };  // CUDA_MEM_ALLOC_NODE_PARAMS
CUresult cuMemAllocAsync(uint64_t *, size_t, CUstream), cuMemFreeAsync(uint64_t, CUstream);
API(CUresult) cuGraphAddMemAllocNode(NODE, struct allocate_node *p) { ADD(cuMemAllocAsync(&p->address, p->size, to)) }
API(CUresult) cuGraphAddMemFreeNode(NODE, uint64_t address) { ADD(cuMemFreeAsync(address, to)) }
API(CUresult) cuGraphMemFreeNodeGetParams(struct node *node, uint64_t *address) {
  READY();
  if (node->work.kind != FREE_WORK) return CUDA_ERROR_INVALID_VALUE;
  *address = node->work.freed;
  return CUDA_SUCCESS;
}
API(CUresult) cuGraphAddEmptyNode(NODE) { ADD(work_call((struct work){EMPTY_WORK}, to)) }
API(CUresult) cuGraphAddEventRecordNode(NODE, struct event *e) { ADD(work_call((struct work){RECORD_WORK, .event = e}, to)) }
API(CUresult) cuGraphAddEventWaitNode(NODE, struct event *e) { ADD(work_call((struct work){WAIT_WORK, .event = e}, to)) }
API(CUresult) cuGraphKernelNodeSetParams(struct node *node, const struct kernel_node *p) { SET(kernel_call(p->function, p, to), NULL) }
API(CUresult) cuGraphKernelNodeSetParams_v2(struct node *node, const struct kernel_node *p) { SET(kernel_call(NEWEST(p), p, to), NULL) }
API(CUresult) cuGraphMemcpyNodeSetParams(struct node *node, const void *p) { SET(cuMemcpy3DAsync_v2(p, to), NULL) }
API(CUresult) cuGraphMemsetNodeSetParams(struct node *node, const struct fill_node *p) { SET(fill_call(p, to), NULL) }
API(CUresult) cuGraphHostNodeSetParams(struct node *node, const struct host_node *p) { SET(HOST_CALL(p), NULL) }
API(CUresult) cuGraphExecKernelNodeSetParams(struct graph *exec, struct node *node, const struct kernel_node *p) { SET(kernel_call(p->function, p, to), exec) }
API(CUresult) cuGraphExecKernelNodeSetParams_v2(struct graph *exec, struct node *node, const struct kernel_node *p) { SET(kernel_call(NEWEST(p), p, to), exec) }
API(CUresult) cuGraphExecMemcpyNodeSetParams(struct graph *exec, struct node *node, const void *p, CUcontext c) { SET(cuMemcpy3DAsync_v2(p, to), exec) }
API(CUresult) cuGraphExecMemsetNodeSetParams(struct graph *exec, struct node *node, const struct fill_node *p, CUcontext c) { SET(fill_call(p, to), exec) }
API(CUresult) cuGraphExecHostNodeSetParams(struct graph *exec, struct node *node, const struct host_node *p) { SET(HOST_CALL(p), exec) }
API(CUresult) cuGraphKernelNodeGetParams_v2(struct node *node, struct kernel_node *p) {
  READY();
  if (!node || node->work.kind != KERNEL_WORK) return CUDA_ERROR_INVALID_VALUE;
  const struct shape *shape = &node->work.kernel.shape;
  *p = (struct kernel_node){.function = node->work.kernel.function, .shared = shape->shared, .parameters = node->work.kernel.parameters};
  memcpy(p->grid, shape->grid, sizeof p->grid), memcpy(p->block, shape->block, sizeof p->block);
  return CUDA_SUCCESS;
}

// ---- objects of the program that live as long as graphs
enum { MOVE = 1 };  // CU_GRAPH_USER_OBJECT_MOVE: the caller's reference becomes the graph's
API(CUresult) cuUserObjectCreate(struct object **out, void *data, void (*destroy)(void *), unsigned count, unsigned flags) {
  READY();
  if (!out || !destroy || !count || !(*out = malloc(sizeof **out))) return CUDA_ERROR_INVALID_VALUE;
  **out = (struct object){data, destroy, count};
  return CUDA_SUCCESS;
}
API(CUresult) cuUserObjectRetain(struct object *object, unsigned count) { READY(); object->count += count; return CUDA_SUCCESS; }
API(CUresult) cuUserObjectRelease(struct object *object, unsigned count) { BEGIN(); release(object, count); return CUDA_SUCCESS; }
API(CUresult) cuGraphRetainUserObject(struct graph *g, struct object *object, unsigned count, unsigned flags) {
  READY();
  TRY(own(g, object, count));
  if (!(flags & MOVE)) object->count += count;
  return CUDA_SUCCESS;
}
API(CUresult) cuGraphReleaseUserObject(struct graph *g, struct object *object, unsigned count) {
  READY();
  for (struct owned *each = g->owned; each; each = each->next)
    if (each->object == object && each->count >= count) {
      each->count -= count;
      release(object, count);
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

// ---- executable graphs are copies, in order
enum { AUTO_FREE = 1 };  // CU_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
API(CUresult) cuGraphInstantiateWithFlags(struct graph **exec, struct graph *g, uint64_t flags) {
  READY();
  if (!exec || !g || !(*exec = copy_graph(g))) return CUDA_ERROR_INVALID_VALUE;
  (*exec)->frees = flags & AUTO_FREE;
  return sort(*exec);
}
API(CUresult) cuGraphInstantiate_v2(struct graph **exec, struct graph *g, struct node **wrong, char *log, size_t size) { return cuGraphInstantiateWithFlags(exec, g, 0); }
API(CUresult) cuGraphInstantiate(struct graph **exec, struct graph *g, struct node **wrong, char *log, size_t size) { return cuGraphInstantiateWithFlags(exec, g, 0); }
struct instantiation { uint64_t flags; CUstream upload; struct node *wrong; int result; };
API(CUresult) cuGraphInstantiateWithParams(struct graph **exec, struct graph *g, struct instantiation *p) {
  p->wrong = NULL, p->result = 0;
  return cuGraphInstantiateWithFlags(exec, g, p->flags);
}
API(CUresult) cuGraphUpload(struct graph *exec, CUstream s) { READY(); return exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
API(CUresult) cuGraphExecDestroy(struct graph *exec) { return cuGraphDestroy(exec); }
API(CUresult) cuGraphLaunch(struct graph *exec, CUstream s) {
  READY();
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  struct work w = {GRAPH_WORK, .child = exec};
  return simt_do(&w, s);
}
struct update { int result; struct node *wrong, *from; };
API(CUresult) cuGraphExecUpdate_v2(struct graph *exec, struct graph *g, struct update *update) {
  READY();
  if (!exec || !g) return CUDA_ERROR_INVALID_VALUE;
  struct graph *made = copy_graph(g), old = *exec;
  if (!made || sort(made)) return CUDA_ERROR_OUT_OF_MEMORY;
  bool same = made->n == exec->n;
  for (size_t k = 0; same && k < made->n; k++) same = made->nodes[k]->work.kind == exec->nodes[k]->work.kind;
  if (update) *update = (struct update){same ? 0 : 2};  // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
  if (same) *exec = *made, *made = old;
  drop_graph(made);
  return same ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}
