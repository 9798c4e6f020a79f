// Graphs of the runtime: those of the driver.  Nodes are what the runtime's own calls add to a recording stream.
#include "runtime.h"

typedef void *cudaGraph_t, *cudaGraphNode_t, *cudaGraphExec_t;
CUresult cuGraphCreate(cudaGraph_t *, unsigned), cuGraphDestroy(cudaGraph_t), cuGraphClone(cudaGraph_t *, cudaGraph_t), cuGraphNodeFindInClone(cudaGraphNode_t *, cudaGraphNode_t, cudaGraph_t);
CUresult cuGraphGetNodes(cudaGraph_t, cudaGraphNode_t *, size_t *), cuGraphGetRootNodes(cudaGraph_t, cudaGraphNode_t *, size_t *), cuGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t *, size_t *);
CUresult cuGraphNodeGetType(cudaGraphNode_t, int *), cuGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, size_t);
CUresult cuGraphAddChildGraphNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaGraph_t), cuGraphAddEmptyNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t);
CUresult cuGraphAddHostNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const void *), cuGraphHostNodeSetParams(cudaGraphNode_t, const void *), cuGraphExecHostNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const void *);
CUresult cuGraphAddMemsetNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const void *, CUcontext), cuGraphMemsetNodeSetParams(cudaGraphNode_t, const void *), cuGraphExecMemsetNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const void *, CUcontext);
CUresult cuGraphAddEventRecordNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaEvent_t), cuGraphAddEventWaitNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaEvent_t);
CUresult cuGraphInstantiateWithFlags(cudaGraphExec_t *, cudaGraph_t, uint64_t), cuGraphInstantiateWithParams(cudaGraphExec_t *, cudaGraph_t, void *);
CUresult cuGraphLaunch(cudaGraphExec_t, cudaStream_t), cuGraphUpload(cudaGraphExec_t, cudaStream_t), cuGraphExecDestroy(cudaGraphExec_t), cuGraphExecUpdate_v2(cudaGraphExec_t, cudaGraph_t, void *);
CUresult cuUserObjectCreate(void **, void *, void (*)(void *), unsigned, unsigned), cuUserObjectRetain(void *, unsigned), cuUserObjectRelease(void *, unsigned), cuGraphRetainUserObject(cudaGraph_t, void *, unsigned, unsigned), cuGraphReleaseUserObject(cudaGraph_t, void *, unsigned);
CUresult cuStreamBeginCapture_v2(cudaStream_t, int), cuStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t, const cudaGraphNode_t *, const void *, size_t, int), cuStreamEndCapture(cudaStream_t, cudaGraph_t *), cuStreamIsCapturing(cudaStream_t, int *);
CUresult cuStreamGetCaptureInfo_v3(cudaStream_t, int *, uint64_t *, cudaGraph_t *, const cudaGraphNode_t **, const void **, size_t *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t), cudaMemcpyAsync(void *, const void *, size_t, int, cudaStream_t), cudaMemcpy3DAsync(const void *, cudaStream_t);
cudaError_t cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, cudaStream_t), cudaMemcpyFromSymbolAsync(void *, const void *, size_t, size_t, int, cudaStream_t);

// ---- capture
API(cudaError_t) cudaStreamBeginCapture(cudaStream_t s, int mode) { BEGIN(); return simt_end(cuStreamBeginCapture_v2(s, mode)); }
API(cudaError_t) cudaStreamBeginCaptureToGraph(cudaStream_t s, cudaGraph_t g, const cudaGraphNode_t *after, const void *edges, size_t n, int mode) { BEGIN(); return simt_end(cuStreamBeginCaptureToGraph(s, g, after, edges, n, mode)); }
API(cudaError_t) cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g) { BEGIN(); return simt_end(cuStreamEndCapture(s, g)); }
API(cudaError_t) cudaStreamIsCapturing(cudaStream_t s, int *status) { BEGIN(); return simt_end(cuStreamIsCapturing(s, status)); }
API(cudaError_t) cudaThreadExchangeStreamCaptureMode(int *mode) { BEGIN(); return cudaSuccess; }
API(cudaError_t) cudaStreamGetCaptureInfo_v3(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *g, const cudaGraphNode_t **after, const void **edges, size_t *n) { BEGIN(); return simt_end(cuStreamGetCaptureInfo_v3(s, status, id, g, after, edges, n)); }
API(cudaError_t) cudaStreamGetCaptureInfo_v2(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *g, const cudaGraphNode_t **after, size_t *n) { return cudaStreamGetCaptureInfo_v3(s, status, id, g, after, NULL, n); }
#if RUNTIME >= 13
API(cudaError_t) cudaStreamGetCaptureInfo(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *g, const cudaGraphNode_t **after, const void **edges, size_t *n) { return cudaStreamGetCaptureInfo_v3(s, status, id, g, after, edges, n); }
#else
API(cudaError_t) cudaStreamGetCaptureInfo(cudaStream_t s, int *status, uint64_t *id) { return cudaStreamGetCaptureInfo_v3(s, status, id, NULL, NULL, NULL, NULL); }
#endif

// ---- graphs and their nodes
API(cudaError_t) cudaGraphCreate(cudaGraph_t *g, unsigned flags) { BEGIN(); return simt_end(cuGraphCreate(g, flags)); }
API(cudaError_t) cudaGraphDestroy(cudaGraph_t g) { BEGIN(); return simt_end(cuGraphDestroy(g)); }
API(cudaError_t) cudaGraphClone(cudaGraph_t *made, cudaGraph_t g) { BEGIN(); return simt_end(cuGraphClone(made, g)); }
API(cudaError_t) cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t n, cudaGraph_t g) { BEGIN(); return simt_end(cuGraphNodeFindInClone(found, n, g)); }
API(cudaError_t) cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *n) { BEGIN(); return simt_end(cuGraphGetNodes(g, nodes, n)); }
API(cudaError_t) cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *n) { BEGIN(); return simt_end(cuGraphGetRootNodes(g, nodes, n)); }
API(cudaError_t) cudaGraphNodeGetType(cudaGraphNode_t n, int *type) { BEGIN(); return simt_end(cuGraphNodeGetType(n, type)); }
#if RUNTIME >= 13  // with data of the edges, which nothing needs
API(cudaError_t) cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const void *edges, size_t n) { BEGIN(); return simt_end(cuGraphAddDependencies(g, from, to, n)); }
API(cudaError_t) cudaGraphNodeGetDependencies(cudaGraphNode_t of, cudaGraphNode_t *nodes, void *edges, size_t *n) { BEGIN(); return simt_end(cuGraphNodeGetDependencies(of, nodes, n)); }
#else
API(cudaError_t) cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) { BEGIN(); return simt_end(cuGraphAddDependencies(g, from, to, n)); }
API(cudaError_t) cudaGraphNodeGetDependencies(cudaGraphNode_t of, cudaGraphNode_t *nodes, size_t *n) { BEGIN(); return simt_end(cuGraphNodeGetDependencies(of, nodes, n)); }
#endif
#define NODE cudaGraphNode_t *node, cudaGraph_t g, const cudaGraphNode_t *after, size_t n
#define ADD(call)                                                                                               \
  BEGIN();                                                                                                      \
  void *to = simt_recorder();                                                                                   \
  return simt_end(to ? simt_add_recorded(to, call, g, node, after, n) : CUDA_ERROR_OUT_OF_MEMORY);
#define SET(call, exec)                                                                                         \
  BEGIN();                                                                                                      \
  void *to = simt_recorder();                                                                                   \
  return simt_end(to ? simt_set_recorded(to, call, exec, node) : CUDA_ERROR_OUT_OF_MEMORY);
struct kernel_node { void *host; dim3 grid, block; unsigned shared; void **parameters, **extra; };
#define LAUNCH(p) cudaLaunchKernel((p)->host, (p)->grid, (p)->block, (p)->parameters, (p)->shared, to)
API(cudaError_t) cudaGraphAddKernelNode(NODE, const struct kernel_node *p) { ADD(LAUNCH(p)) }
API(cudaError_t) cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct kernel_node *p) { SET(LAUNCH(p), NULL) }
API(cudaError_t) cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct kernel_node *p) { SET(LAUNCH(p), exec) }
CUresult cuGraphAddMemAllocNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, void *), cuGraphAddMemFreeNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, uint64_t), cuGraphMemFreeNodeGetParams(cudaGraphNode_t, uint64_t *);
CUresult cuDeviceGetGraphMemAttribute(int, int, uint64_t *), cuDeviceSetGraphMemAttribute(int, int, const uint64_t *), cuDeviceGraphMemTrim(int);
API(cudaError_t) cudaGraphAddMemAllocNode(NODE, void *p) { BEGIN(); return simt_end(cuGraphAddMemAllocNode(node, g, after, n, p)); }  // the same structure
API(cudaError_t) cudaGraphAddMemFreeNode(NODE, void *address) { BEGIN(); return simt_end(cuGraphAddMemFreeNode(node, g, after, n, (uint64_t)address)); }
API(cudaError_t) cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, uint64_t *address) { BEGIN(); return simt_end(cuGraphMemFreeNodeGetParams(node, address)); }
API(cudaError_t) cudaDeviceGetGraphMemAttribute(int d, int which, uint64_t *value) { BEGIN(); return simt_end(cuDeviceGetGraphMemAttribute(d, which, value)); }
API(cudaError_t) cudaDeviceSetGraphMemAttribute(int d, int which, const uint64_t *value) { BEGIN(); return simt_end(cuDeviceSetGraphMemAttribute(d, which, value)); }
API(cudaError_t) cudaDeviceGraphMemTrim(int d) { BEGIN(); return simt_end(cuDeviceGraphMemTrim(d)); }
API(cudaError_t) cudaGraphAddMemcpyNode(NODE, const void *p) { ADD(cudaMemcpy3DAsync(p, to)) }
API(cudaError_t) cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const void *p) { SET(cudaMemcpy3DAsync(p, to), NULL) }
API(cudaError_t) cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const void *p) { SET(cudaMemcpy3DAsync(p, to), exec) }
API(cudaError_t) cudaGraphAddMemcpyNode1D(NODE, void *there, const void *here, size_t size, int kind) { ADD(cudaMemcpyAsync(there, here, size, kind, to)) }
API(cudaError_t) cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *there, const void *here, size_t size, int kind) { SET(cudaMemcpyAsync(there, here, size, kind, to), NULL) }
API(cudaError_t) cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *there, const void *here, size_t size, int kind) { SET(cudaMemcpyAsync(there, here, size, kind, to), exec) }
API(cudaError_t) cudaGraphAddMemcpyNodeToSymbol(NODE, const void *symbol, const void *here, size_t size, size_t offset, int kind) { ADD(cudaMemcpyToSymbolAsync(symbol, here, size, offset, kind, to)) }
API(cudaError_t) cudaGraphAddMemcpyNodeFromSymbol(NODE, void *there, const void *symbol, size_t size, size_t offset, int kind) { ADD(cudaMemcpyFromSymbolAsync(there, symbol, size, offset, kind, to)) }
API(cudaError_t) cudaGraphAddMemsetNode(NODE, const void *p) { BEGIN(); return simt_end(cuGraphAddMemsetNode(node, g, after, n, p, NULL)); }  // the same structure
API(cudaError_t) cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const void *p) { BEGIN(); return simt_end(cuGraphMemsetNodeSetParams(node, p)); }
API(cudaError_t) cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const void *p) { BEGIN(); return simt_end(cuGraphExecMemsetNodeSetParams(exec, node, p, NULL)); }
API(cudaError_t) cudaGraphAddHostNode(NODE, const void *p) { BEGIN(); return simt_end(cuGraphAddHostNode(node, g, after, n, p)); }
API(cudaError_t) cudaGraphHostNodeSetParams(cudaGraphNode_t node, const void *p) { BEGIN(); return simt_end(cuGraphHostNodeSetParams(node, p)); }
API(cudaError_t) cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const void *p) { BEGIN(); return simt_end(cuGraphExecHostNodeSetParams(exec, node, p)); }
API(cudaError_t) cudaGraphAddChildGraphNode(NODE, cudaGraph_t child) { BEGIN(); return simt_end(cuGraphAddChildGraphNode(node, g, after, n, child)); }
API(cudaError_t) cudaGraphAddEmptyNode(NODE) { BEGIN(); return simt_end(cuGraphAddEmptyNode(node, g, after, n)); }
API(cudaError_t) cudaGraphAddEventRecordNode(NODE, cudaEvent_t e) { BEGIN(); return simt_end(cuGraphAddEventRecordNode(node, g, after, n, e)); }
API(cudaError_t) cudaGraphAddEventWaitNode(NODE, cudaEvent_t e) { BEGIN(); return simt_end(cuGraphAddEventWaitNode(node, g, after, n, e)); }

// ---- objects of the program that live as long as graphs
API(cudaError_t) cudaUserObjectCreate(void **out, void *data, void (*destroy)(void *), unsigned count, unsigned flags) { BEGIN(); return simt_end(cuUserObjectCreate(out, data, destroy, count, flags)); }
API(cudaError_t) cudaUserObjectRetain(void *object, unsigned count) { BEGIN(); return simt_end(cuUserObjectRetain(object, count)); }
API(cudaError_t) cudaUserObjectRelease(void *object, unsigned count) { BEGIN(); return simt_end(cuUserObjectRelease(object, count)); }
API(cudaError_t) cudaGraphRetainUserObject(cudaGraph_t g, void *object, unsigned count, unsigned flags) { BEGIN(); return simt_end(cuGraphRetainUserObject(g, object, count, flags)); }
API(cudaError_t) cudaGraphReleaseUserObject(cudaGraph_t g, void *object, unsigned count) { BEGIN(); return simt_end(cuGraphReleaseUserObject(g, object, count)); }

// ---- executable graphs
API(cudaError_t) cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t g, uint64_t flags) { BEGIN(); return simt_end(cuGraphInstantiateWithFlags(exec, g, flags)); }
API(cudaError_t) cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t g, uint64_t flags) { ENTER(); return cudaGraphInstantiateWithFlags(exec, g, flags); }
API(cudaError_t) cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t g, void *p) { BEGIN(); return simt_end(cuGraphInstantiateWithParams(exec, g, p)); }
API(cudaError_t) cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s) { BEGIN(); return simt_end(cuGraphLaunch(exec, s)); }
API(cudaError_t) cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t s) { BEGIN(); return simt_end(cuGraphUpload(exec, s)); }
API(cudaError_t) cudaGraphExecDestroy(cudaGraphExec_t exec) { BEGIN(); return simt_end(cuGraphExecDestroy(exec)); }
API(cudaError_t) cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t g, void *update) { BEGIN(); return simt_end(cuGraphExecUpdate_v2(exec, g, update)); }
