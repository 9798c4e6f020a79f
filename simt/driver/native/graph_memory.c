// Memory of graphs.  A node that allocates has its address from the start, and as long as a graph has the node; launches
// only say whether the memory is in use.
#include "simt.h"

struct graph_memory {
  uint64_t address;
  size_t size;
  unsigned nodes;  // that allocate it
  bool live;       // a launch has allocated it, and nobody has freed it since
  struct graph_memory *next;
};
enum { USED, MOST_USED, RESERVED, MOST_RESERVED, N_AMOUNTS };  // CUgraphMem_attribute
static struct graph_memory *all;
static uint64_t amounts[N_AMOUNTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(int which, uint64_t more) {
  amounts[which] += more;
  if (amounts[which] > amounts[which + 1]) amounts[which + 1] = amounts[which];
}
static struct graph_memory *at(uint64_t address) {
  struct graph_memory *each = all;
  while (each && each->address != address) each = each->next;
  return each;
}
static void set_live(struct graph_memory *m, bool live) {
  if (m->live != live) count(USED, live ? m->size : -m->size);
  m->live = live;
}
static void drop_unused(struct graph_memory *m) {
  struct graph_memory **place = &all;
  if (m->nodes || m->live) return;
  while (*place != m) place = &(*place)->next;
  *place = m->next;
  count(RESERVED, -m->size);
  simt_free(m->address);
  free(m);
}
void simt_hold_memory(struct graph_memory *m, int more) {
  pthread_mutex_lock(&lock);
  m->nodes += more;
  drop_unused(m);
  pthread_mutex_unlock(&lock);
}
bool simt_use_memory(struct graph_memory *m, bool live) {
  pthread_mutex_lock(&lock);
  bool before = m->live;
  set_live(m, live);
  pthread_mutex_unlock(&lock);
  return before;
}
bool simt_is_graph_memory(uint64_t address) {
  pthread_mutex_lock(&lock);
  bool is = at(address) != NULL;
  pthread_mutex_unlock(&lock);
  return is;
}
CUresult simt_free_graph_memory(uint64_t address) {
  pthread_mutex_lock(&lock);
  struct graph_memory *m = at(address);
  bool is = m && m->live;
  if (is) set_live(m, false), drop_unused(m);
  pthread_mutex_unlock(&lock);
  return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult simt_allocate_in_graph(uint64_t *address, size_t size, CUstream s) {
  struct graph_memory *made = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = simt_allocate(&made->address, size, DEVICE);
  if (result) return free(made), result;
  pthread_mutex_lock(&lock);
  made->size = size, made->nodes = 1, made->next = all, all = made;
  count(RESERVED, size);
  pthread_mutex_unlock(&lock);
  struct work w = {ALLOCATE_WORK, .memory = made};
  *address = made->address;
  result = simt_do(&w, s);
  simt_hold_memory(made, -1);  // the node has it now
  return result;
}

API(CUresult) cuDeviceGetGraphMemAttribute(CUdevice d, int which, uint64_t *value) {
  READY();
  if (which < 0 || which >= N_AMOUNTS || !value) return CUDA_ERROR_INVALID_VALUE;
  *value = amounts[which];
  return CUDA_SUCCESS;
}
API(CUresult) cuDeviceSetGraphMemAttribute(CUdevice d, int which, const uint64_t *value) {  // the peaks begin anew
  READY();
  if ((which != MOST_USED && which != MOST_RESERVED) || !value || *value) return CUDA_ERROR_INVALID_VALUE;
  amounts[which] = amounts[which - 1];
  return CUDA_SUCCESS;
}
API(CUresult) cuDeviceGraphMemTrim(CUdevice d) { READY(); return CUDA_SUCCESS; }
