// A CUDA program without nvcc: program CUBIN SCENARIO.  It registers the kernels of a cubin as nvcc's code does, and
// then does what the scenario says.  The declarations are those of CUDA's documentation.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;
typedef struct { size_t x, y, z; } extent;
typedef void *stream_t, *event_t;
enum { TO_DEVICE = 1, TO_HOST, ON_DEVICE, DEFAULT };
int cudaMalloc(void **, size_t), cudaFree(void *), cudaMallocManaged(void **, size_t, unsigned), cudaHostAlloc(void **, size_t, unsigned), cudaFreeHost(void *);
int cudaHostRegister(void *, size_t, unsigned), cudaHostUnregister(void *), cudaHostGetDevicePointer(void **, void *, unsigned);
int cudaMemcpy(void *, const void *, size_t, int), cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int), cudaMemset(void *, int, size_t);
int cudaPointerGetAttributes(void *, const void *), cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int), cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, stream_t), cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, stream_t);
int cudaDeviceSynchronize(void), cudaDeviceReset(void);
int cudaGetLastError(void), cudaPeekAtLastError(void), cudaGetDeviceCount(int *), cudaMemGetInfo(size_t *, size_t *);
int cudaStreamCreate(stream_t *), cudaStreamSynchronize(stream_t), cudaStreamDestroy(stream_t);
int cudaEventCreate(event_t *), cudaEventRecord(event_t, stream_t), cudaEventElapsedTime(float *, event_t, event_t);
int cudaStreamWaitEvent(stream_t, event_t, unsigned), cudaMemcpyAsync(void *, const void *, size_t, int, stream_t), cudaStreamBeginCapture(stream_t, int), cudaStreamIsCapturing(stream_t, int *), cudaStreamEndCapture(stream_t, void **);
int cudaGraphCreate(void **, unsigned), cudaGraphInstantiate(void **, void *, unsigned long long), cudaGraphLaunch(void *, stream_t), cudaGraphGetNodes(void *, void **, size_t *), cudaGraphExecDestroy(void *), cudaGraphDestroy(void *);
int cudaGraphAddKernelNode(void **, void *, void *const *, size_t, const void *), cudaGraphAddMemcpyNode1D(void **, void *, void *const *, size_t, void *, const void *, size_t, int), cudaGraphAddHostNode(void **, void *, void *const *, size_t, const void *);
int cudaGraphAddDependencies(void *, void *const *, void *const *, const void *, size_t), cudaGraphExecKernelNodeSetParams(void *, void *, const void *), cudaGraphExecUpdate(void *, void *, void *), cudaIpcGetMemHandle(void *, void *);
int cudaMallocAsync(void **, size_t, stream_t), cudaFreeAsync(void *, stream_t), cudaDeviceGetGraphMemAttribute(int, int, uint64_t *);
int cudaGraphAddMemAllocNode(void **, void *, void *const *, size_t, void *), cudaGraphAddMemFreeNode(void **, void *, void *const *, size_t, void *);
int cudaUserObjectCreate(void **, void *, void (*)(void *), unsigned, unsigned), cudaGraphRetainUserObject(void *, void *, unsigned, unsigned);
int cudaDeviceSetLimit(int, size_t), cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
int cudaMallocArray(void **, const void *, size_t, size_t, unsigned), cudaMemcpy2DToArray(void *, size_t, size_t, const void *, size_t, size_t, size_t, int);
int cudaMalloc3DArray(void **, const void *, extent, unsigned), cudaMemcpy3D(const void *);
int cudaCreateTextureObject(uint64_t *, const void *, const void *, const void *), cudaDestroyTextureObject(uint64_t), cudaFreeArray(void *);
const char *cudaGetErrorName(int);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);

// What stands for kernels and variables on the host.
static char multiply, beyond, forever, stop, sample, scale, counter;
static char failing, pending, result;  // of tests/data/system
static char cube, cube_layered;        // of tests/data/sass
static struct { unsigned magic, version; void *image, *more; } wrapper = {0x466243b1, 1};
static void **handle;
static void load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) exit(99);
  wrapper.image = malloc(1 << 20);
  if (!fread(wrapper.image, 1, 1 << 20, file)) exit(99);
  handle = __cudaRegisterFatBinary(&wrapper);
#define MANGLED(name, mangled) __cudaRegisterFunction(handle, &name, mangled, mangled, -1, 0, 0, 0, 0, 0)
#define KERNEL(name) MANGLED(name, #name)
  KERNEL(multiply), KERNEL(beyond), KERNEL(forever), KERNEL(stop), KERNEL(sample);
  KERNEL(cube), KERNEL(cube_layered);
  MANGLED(failing, "_Z7failingi"), MANGLED(pending, "_Z7pendingiii");
  __cudaRegisterVar(handle, &scale, "scale", "scale", 0, 4, 1, 0);
  __cudaRegisterVar(handle, &counter, "counter", "counter", 0, 4, 0, 0);
  __cudaRegisterVar(handle, &result, "result", "result", 0, 256, 0, 0);
}

enum { N = 1000 };
static float host[N];
static int launch_on(stream_t s, char *kernel, float *x, int n, int blocks, int threads) {
  void *arguments[] = {&x, &n};
  return cudaLaunchKernel(kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, arguments, 0, s);
}
static int launch(char *kernel, float *x, int n) { return launch_on(NULL, kernel, x, n, (n + 127) / 128, 128); }
static float *array(void) {
  float *x = NULL;
  for (int i = 0; i < N; i++) host[i] = i;
  if (cudaMalloc((void **)&x, sizeof host)) exit(98);
  cudaMemcpy(x, host, sizeof host, TO_DEVICE);
  return x;
}
static void say(const char *what, int error) { printf("%s: %s\n", what, cudaGetErrorName(error)), fflush(stdout); }
static float back(float *x, int i) {
  cudaMemcpy(host, x, sizeof host, TO_HOST);
  return host[i];
}

static void plain(void) {
  float *x = array(), three = 3;
  int n = 0, blocks = 0;
  size_t free_, total;
  say("launch", launch(&multiply, x, N));
  cudaMemcpyToSymbol(&scale, &three, 4, 0, TO_DEVICE);
  say("launch", launch(&multiply, x, N));
  cudaMemcpyFromSymbol(&n, &counter, 4, 0, TO_HOST);
  say("synchronize", cudaDeviceSynchronize());
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &multiply, 128, 0);
  printf("%g %d %d\n", back(x, 999), n, blocks);
  say("memory", cudaMemGetInfo(&free_, &total));
  printf("%d\n", free_ < total && total - free_ < 1 << 16);
  say("free", cudaFree(x));
}
// Arrays of which the first half is copied, all is set, a rectangle is copied, and what nobody has written is copied.
static void unwritten(void) {
  float *half, *set, *rows, *copy, *none;
  cudaMalloc((void **)&half, sizeof host), cudaMalloc((void **)&set, sizeof host), cudaMalloc((void **)&rows, sizeof host);
  cudaMalloc((void **)&copy, sizeof host), cudaMalloc((void **)&none, sizeof host);
  cudaMemcpy(half, host, sizeof host / 2, TO_DEVICE);
  cudaMemset(set, 0, sizeof host);
  cudaMemcpy2D(rows, 40, host, 40, 36, N / 10, TO_DEVICE);  // nine of ten elements
  cudaMemcpy(copy, none, sizeof host, ON_DEVICE);
  cudaMemcpy(copy, set, 40, ON_DEVICE);
  float *all[] = {half, set, rows, copy, half};
  for (int k = 0; k < 5; k++) say("launch", launch(&multiply, all[k], N));
  cudaFree(half), cudaMalloc((void **)&half, sizeof host);
  say("launch", launch(&multiply, half, N));
  say("synchronize", cudaDeviceSynchronize());
  printf("%.9g\n", back(half, N - 1));
}
static void memory(void) {
  static float own[2048];
  float *managed, *pinned, *d, *registered = own + 100;
  cudaMallocManaged((void **)&managed, sizeof host, 1);
  cudaHostAlloc((void **)&pinned, sizeof host, 0);
  for (int i = 0; i < N; i++) managed[i] = pinned[i] = registered[i] = i;
  say("register", cudaHostRegister(registered, sizeof host, 0));
  cudaHostGetDevicePointer((void **)&d, registered, 0);
  launch(&multiply, managed, N), launch(&multiply, pinned, N), launch(&multiply, d, N);
  printf("%g %g %g\n", managed[10], pinned[20], registered[30]);
  say("unregister", cudaHostUnregister(registered));
  say("unregister", cudaHostUnregister(registered));
  registered[30] = 1;
  say("free", cudaFree(managed));
  say("free", cudaFreeHost(pinned));
  char grid[4][8] = {{0}}, *pitched;
  cudaMalloc((void **)&pitched, 4 * 512);
  cudaMemset(pitched, 5, 4 * 512);
  say("2D", cudaMemcpy2D(grid, 8, pitched, 512, 3, 4, TO_HOST));
  printf("%d %d %d\n", grid[0][0], grid[3][2], grid[3][3]);
}
static void managed(void) {  // what nvcc makes of __managed__ int counter, which the host uses before and after a kernel
  static int *shared;
  struct { int type, device; void *on_device, *on_host; long more[8]; } known;
  __cudaRegisterManagedVar(handle, (void **)&shared, "counter", "counter", 0, 4, 0, 0);
  __cudaInitModule(handle);
  *shared = 5;
  launch(&multiply, array(), N), cudaDeviceSynchronize();
  cudaPointerGetAttributes(&known, shared);
  printf("%d %d %d\n", *shared, known.type, known.on_host == shared);
  cudaDeviceReset(), cudaFree(0);
  printf("%d\n", *shared);
}
static void dereference(void) { printf("%g\n", *array()); }
static void frees(void) {
  float *x = array();
  say("free", cudaFree(x));
  say("twice", cudaFree(x));
  say("inside", cudaFree(array() + 1));
  say("host", cudaFree(host));
  say("null", cudaFree(NULL));
}
static void copies(void) {
  float *x = array();
  say("beyond", cudaMemcpy(x, host, sizeof host + 4, TO_DEVICE));
  say("before", cudaMemcpy(x - 1, host, 4, TO_DEVICE));
  say("freed", (cudaFree(x), cudaMemcpy(host, x, 4, TO_HOST)));
  say("direction", cudaMemcpy(host, array(), 4, TO_DEVICE));
  say("unknown direction", cudaMemcpy(host, array(), 4, 9));
  say("default", cudaMemcpy(array(), host, 4, DEFAULT));
  say("fill", cudaMemset(array(), 0, sizeof host + 1));
  say("fill of the host", cudaMemset(host, 0, 4));
  say("symbol", cudaMemcpyToSymbol(&scale, host, 8, 0, TO_DEVICE));
  say("no symbol", cudaMemcpyToSymbol(host, host, 4, 0, TO_DEVICE));
}
static void short_buffers(void) {
  size_t page = sysconf(_SC_PAGESIZE);
  char *x, *buffer = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(buffer + page, page);
  cudaMalloc((void **)&x, 2 * page);
  say("whole", cudaMemcpy(x, buffer, page, TO_DEVICE));
  say("too long", cudaMemcpy(x, buffer + 8, page, TO_DEVICE));
  buffer[8] = 1;
  say("back", cudaMemcpy(buffer + 8, x, page, TO_HOST));
  printf("%d\n", buffer[8]);
}
static void shapes(void) {
  float *x = array();
  say("threads", launch_on(NULL, &multiply, x, N, 1, 2048));
  say("blocks", launch_on(NULL, &multiply, x, N, 0, 32));
  say("function", launch_on(NULL, &scale, x, N, 1, 32));
  say("last", cudaPeekAtLastError());
  say("last", cudaGetLastError());
  say("last", cudaGetLastError());
  int n = N;
  void *arguments[] = {&x, &n};
  say("shared", cudaLaunchKernel(&multiply, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 65536, NULL));
  say("together", cudaLaunchCooperativeKernel(&multiply, (dim3){100000, 1, 1}, (dim3){32, 1, 1}, arguments, 0, NULL));
  say("good", launch(&multiply, x, N));
}
static void wrong(void) {
  float *x = array(), *other = array();
  say("launch", launch(&beyond, x, 100000));
  say("synchronize", cudaDeviceSynchronize());
  say("allocate", cudaMalloc((void **)&x, 4));
  say("copy", cudaMemcpy(host, other, 4, TO_HOST));
  say("launch", launch(&multiply, other, N));
  say("reset", cudaDeviceReset());
  x = array();
  say("launch", launch(&multiply, x, N));
  printf("%g\n", back(x, 9));
}
static void keeps(void) {
  float *managed;
  cudaMallocManaged((void **)&managed, 4096, 1);
  for (int i = 0; i < 1024; i++) managed[i] = i;
  say("launch", launch_on(NULL, &beyond, managed, 1 << 20, 1, 32));
  printf("%g %g %g\n", managed[0], managed[31], managed[32]);
  say("synchronize", cudaDeviceSynchronize());
}
static void host_pointer(void) {
  array();
  say("launch", launch(&multiply, host, N));
  say("synchronize", cudaDeviceSynchronize());
}
static void trap(void) {
  say("launch", cudaLaunchKernel(&stop, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL));
  say("synchronize", cudaDeviceSynchronize());
}
static void *in_thread(void *given) {
  stream_t s;
  float *x = array(), copy[N];
  cudaStreamCreate(&s);
  for (int k = 0; k < 5; k++) *(int *)given |= launch_on(s, &multiply, x, N, 8, 128);
  *(int *)given |= cudaStreamSynchronize(s);
  cudaMemcpy(copy, x, sizeof copy, TO_HOST);
  *(int *)given |= copy[999] != 32 * 999;
  cudaStreamDestroy(s);
  return NULL;
}
static void threads(void) {
  pthread_t thread[2];
  int error[2] = {0, 0};
  for (int k = 0; k < 2; k++) pthread_create(thread + k, NULL, in_thread, error + k);
  for (int k = 0; k < 2; k++) pthread_join(thread[k], NULL);
  printf("%d %d\n", error[0], error[1]);
}
static void forks(void) {
  float *x = array();
  fflush(stdout);
  if (fork() == 0) {
    say("child", cudaMemcpy(host, x, 4, TO_HOST));
    _exit(0);
  }
  wait(NULL);
  say("parent", launch(&multiply, x, N));
  printf("%g\n", back(x, 5));
}
static void forks_first(void) {
  if (fork() == 0) {
    float *x = array();
    say("child", launch(&multiply, x, N));
    exit(0);
  }
  wait(NULL);
  float *x = array();
  say("parent", launch(&multiply, x, N));
}
static void *endless(void *stop_) {
  cudaLaunchKernel(&forever, (dim3){1, 1, 1}, (dim3){32, 1, 1}, (void *[]){&stop_}, 0, NULL);
  return NULL;
}
static void begin_endless(void) {
  pthread_t thread;
  float *x = array();
  cudaMemset(x, 0, sizeof host);
  printf("running\n"), fflush(stdout);
  pthread_create(&thread, NULL, endless, x);
  sleep(2);
}
static void stays(void) {  // as long as the kernel takes
  float *x = array();
  cudaMemset(x, 0, sizeof host);
  endless(x), say("synchronize", cudaDeviceSynchronize());
}
static void exits(void) { begin_endless(), _exit(3); }
static void crashes(void) { begin_endless(), raise(SIGSEGV); }
static void killed(void) { begin_endless(), raise(SIGKILL); }
static void waits(void) { begin_endless(), sleep(600); }
static void server_dies(void) {  // the parent is the simulator, and the test kills it
  float *x = array();
  printf("ready\n"), fflush(stdout);
  for (int k = 0; k < 300; k++) {
    int error = launch(&multiply, x, N);
    if (error) {
      say("launch", error), say("synchronize", cudaDeviceSynchronize()), say("allocate", cudaMalloc((void **)&x, 4));
      return;
    }
    usleep(100000);
  }
}
static void missing(void) {
  char handle[64];
  say("handle", cudaIpcGetMemHandle(handle, NULL));
  say("last", cudaGetLastError());
  say("handle", cudaIpcGetMemHandle(handle, NULL));
}
static void captures(void) {
  float *x = array(), *y = array();
  stream_t s, other;
  event_t first, second;
  void *graph, *exec;
  size_t n = 0;
  int before, within, after;
  cudaStreamCreate(&s), cudaStreamCreate(&other), cudaEventCreate(&first), cudaEventCreate(&second);
  say("default stream", cudaStreamBeginCapture(NULL, 0));
  say("nothing begun", cudaStreamEndCapture(s, &graph));
  cudaStreamIsCapturing(s, &before), say("begin", cudaStreamBeginCapture(s, 0)), cudaStreamIsCapturing(s, &within);
  launch_on(s, &multiply, x, N, 8, 128);
  cudaEventRecord(first, s), cudaStreamWaitEvent(other, first, 0);
  cudaMemcpyAsync(y, x, sizeof host, ON_DEVICE, other);
  cudaEventRecord(second, other), cudaStreamWaitEvent(s, second, 0);
  launch_on(s, &multiply, x, N, 8, 128);
  say("end", cudaStreamEndCapture(s, &graph)), cudaStreamIsCapturing(other, &after);
  cudaGraphGetNodes(graph, NULL, &n);
  printf("%d %d %d, %zu nodes, %g\n", before, within, after, n, back(x, 5));
  say("instantiate", cudaGraphInstantiate(&exec, graph, 0));
  say("destroy", cudaGraphDestroy(graph));
  for (int k = 0; k < 2; k++) say("launch", cudaGraphLaunch(exec, s));
  printf("%g", back(x, 5)), printf(" %g\n", back(y, 5));
  say("destroy", cudaGraphExecDestroy(exec));
}
static void leaves(void) {
  float *x = array();
  stream_t s, other;
  event_t forked, joined;
  void *graph;
  size_t n = 0;
  int after;
  cudaStreamCreate(&s), cudaStreamCreate(&other), cudaEventCreate(&forked), cudaEventCreate(&joined);
  cudaStreamBeginCapture(s, 0);
  cudaEventRecord(forked, s), cudaStreamWaitEvent(other, forked, 0);
  launch_on(other, &multiply, x, N, 8, 128);
  cudaEventRecord(joined, other), cudaStreamWaitEvent(s, joined, 0);
  say("destroy", cudaStreamDestroy(other)), memset(malloc(32), 0, 32);  // likely where the stream was
  say("end", cudaStreamEndCapture(s, &graph)), cudaStreamIsCapturing(s, &after);
  cudaGraphGetNodes(graph, NULL, &n);
  printf("%d, %zu nodes\n", after, n);
}
static void count(void *calls) { ++*(int *)calls; }
static void nodes(void) {
  float *x = array(), numbers[N];
  int n = N, few = 3, calls = 0;
  void *graph, *exec, *kernel, *copy, *call;
  struct { void *host; dim3 grid, block; unsigned shared; void **parameters, **extra; } how = {&multiply, {8, 1, 1}, {128, 1, 1}, 0, (void *[]){&x, &n}, NULL};
  struct { void (*function)(void *); void *data; } hook = {count, &calls};
  struct { int result; void *wrong, *from; } update;
  for (int i = 0; i < N; i++) numbers[i] = 10 * i;
  say("graph", cudaGraphCreate(&graph, 0));
  say("kernel", cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &how));
  say("call", cudaGraphAddHostNode(&call, graph, &kernel, 1, &hook));
  say("copy", cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, x, numbers, sizeof numbers, TO_DEVICE));
  say("edge", cudaGraphAddDependencies(graph, &copy, &kernel, NULL, 1));  // added later, done earlier
  say("instantiate", cudaGraphInstantiate(&exec, graph, 0));
  say("launch", cudaGraphLaunch(exec, NULL));
  printf("%g after %d\n", back(x, 5), calls);
  how.parameters[1] = &few;
  say("set", cudaGraphExecKernelNodeSetParams(exec, kernel, &how));
  say("launch", cudaGraphLaunch(exec, NULL));
  printf("%g after %d\n", back(x, 5), calls);
  say("another node", cudaGraphExecKernelNodeSetParams(exec, copy, &how));
  say("update", cudaGraphExecUpdate(exec, graph, &update)), cudaGraphLaunch(exec, NULL);
  printf("%g after %d\n", back(x, 5), calls);
  cudaGraphAddHostNode(&call, graph, NULL, 0, &hook);
  say("update", cudaGraphExecUpdate(exec, graph, &update));
}
static void objects(void) {
  enum { MOVE = 1, NO_SYNC = 1 };
  int gone = 0;
  void *graph, *exec, *object;
  cudaGraphCreate(&graph, 0);
  say("object", cudaUserObjectCreate(&object, &gone, count, 1, NO_SYNC));
  say("retain", cudaGraphRetainUserObject(graph, object, 1, MOVE));
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph), printf("%d ", gone);
  cudaGraphExecDestroy(exec), printf("%d\n", gone);
}
static uint64_t in_graphs(int which) {  // 0: in use, 2: reserved
  uint64_t bytes = 7;
  cudaDeviceGetGraphMemAttribute(0, which, &bytes);
  return bytes;
}
static void graph_memory(void) {
  enum { AUTO_FREE = 1 };
  float *x = array(), *y, *z, *outside;
  int n = N;
  stream_t s;
  void *graph, *exec, *node, *freed;
  struct { char pool[88]; const void *access; size_t n, size; void *address; } memory = {.size = sizeof host};
  cudaStreamCreate(&s), cudaMalloc((void **)&outside, sizeof host);
  cudaStreamBeginCapture(s, 0);
  say("allocate", cudaMallocAsync((void **)&y, sizeof host, s)), say("allocate", cudaMallocAsync((void **)&z, sizeof host, s));
  cudaMemcpyAsync(y, x, sizeof host, ON_DEVICE, s), launch_on(s, &multiply, y, n, 8, 128), cudaMemcpyAsync(z, y, sizeof host, ON_DEVICE, s);
  say("free", cudaFreeAsync(y, s)), say("not of a graph", cudaFreeAsync(outside, s));
  cudaStreamEndCapture(s, &graph), cudaGraphInstantiate(&exec, graph, 0), cudaGraphDestroy(graph);
  printf("%llu of %llu\n", (unsigned long long)in_graphs(0), (unsigned long long)in_graphs(2));
  say("before", cudaFree(z)), say("launch", cudaGraphLaunch(exec, s));
  printf("%g, %llu\n", back(z, 5), (unsigned long long)in_graphs(0));
  say("again", cudaGraphLaunch(exec, s)), say("free", cudaFree(z)), say("twice", cudaFree(z));
  say("launch", cudaGraphLaunch(exec, s)), say("destroy", cudaGraphExecDestroy(exec));
  printf("%g, %llu\n", back(z, 5), (unsigned long long)in_graphs(2));
  say("free", cudaFreeAsync(z, s)), printf("%llu\n", (unsigned long long)in_graphs(2));
  cudaGraphCreate(&graph, 0);
  say("node", cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &memory)), say("frees", cudaGraphAddMemFreeNode(&freed, graph, &node, 1, memory.address));
  say("nothing", cudaGraphAddMemFreeNode(&freed, graph, &node, 1, x));
  cudaGraphAddMemAllocNode(&node, graph, &freed, 1, &memory), cudaGraphInstantiate(&exec, graph, AUTO_FREE);
  for (int k = 0; k < 2; k++) say("launch", cudaGraphLaunch(exec, s));
  printf("%llu of %llu\n", (unsigned long long)in_graphs(0), (unsigned long long)in_graphs(2));
}
static void times(void) {
  event_t a, b, c;
  float *x = array(), first, second;
  cudaEventCreate(&a), cudaEventCreate(&b), cudaEventCreate(&c);
  cudaEventRecord(a, NULL), launch(&multiply, x, N), cudaEventRecord(b, NULL), launch(&multiply, x, N), cudaEventRecord(c, NULL);
  cudaEventElapsedTime(&first, a, b), cudaEventElapsedTime(&second, b, c);
  printf("%.6f %.6f\n", first, second);
}
static void texture(void) {
  struct { int x, y, z, w, kind; } channels = {32, 0, 0, 0, 2};
  struct { int type; union { void *array; int room[32]; } is; unsigned flags; } resource = {0};
  struct { int mode[3], filter, read, srgb; float border[4]; int normalized; unsigned rest[8]; } how = {{1, 1, 1}};
  float texels[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, *out = array();
  uint64_t image;
  void *a;
  say("array", cudaMallocArray(&a, &channels, 4, 2, 0));
  say("copy", cudaMemcpy2DToArray(a, 0, 0, texels, 16, 16, 2, TO_DEVICE));
  resource.is.array = a;
  say("texture", cudaCreateTextureObject(&image, &resource, &how, NULL));
  cudaLaunchKernel(&sample, (dim3){1, 1, 1}, (dim3){8, 1, 1}, (void *[]){&image, &out}, 0, NULL);
  back(out, 0);
  for (int i = 0; i < 8; i++) printf("%g%c", host[i], i < 7 ? ' ' : '\n');
  say("destroy", cudaDestroyTextureObject(image));
  say("free", cudaFreeArray(a));
}
static void cubes(void) {  // each face of each cube holds its number; a direction for each face
  enum { CUBE = 4, LAYERED = 1, FACES = 6, CUBES = 3, SIZE = 2, TEXELS = SIZE * SIZE };
  struct { int x, y, z, w, kind; } channels = {32, 32, 32, 32, 2};
  struct { int type; union { void *array; int room[32]; } is; unsigned flags; } resource = {0};
  struct { int mode[3], filter, read, srgb; float border[4]; int normalized; unsigned rest[8]; } how = {{1, 1, 1}};
  static float texels[CUBES * FACES * TEXELS][4], directions[3][FACES] = {{1, -1}, {0, 0, 1, -1}, {0, 0, 0, 0, 1, -1}}, found[FACES][4];
  int n = FACES, layers[FACES] = {2, 0, 1, 2, 0, 1};
  void *a, *to[3], *layer, *out;
  uint64_t image;
  for (int k = 0; k < CUBES * FACES * TEXELS; k++) texels[k][0] = k / TEXELS;
  for (int k = 0; k < 3; k++) cudaMalloc(&to[k], sizeof *directions), cudaMemcpy(to[k], directions[k], sizeof *directions, TO_DEVICE);
  cudaMalloc(&layer, sizeof layers), cudaMemcpy(layer, layers, sizeof layers, TO_DEVICE), cudaMalloc(&out, sizeof found);
  say("not square", cudaMalloc3DArray(&a, &channels, (extent){2, 3, FACES}, CUBE));
  say("five faces", cudaMalloc3DArray(&a, &channels, (extent){SIZE, SIZE, 5}, CUBE));
  say("seven faces", cudaMalloc3DArray(&a, &channels, (extent){SIZE, SIZE, 7}, CUBE | LAYERED));
  for (int layered = 0; layered < 2; layered++) {
    size_t depth = layered ? CUBES * FACES : FACES;
    say("cube", cudaMalloc3DArray(&a, &channels, (extent){SIZE, SIZE, depth}, CUBE | (layered ? LAYERED : 0)));
    struct { void *from_array; extent from_at; struct { void *at; size_t pitch, x, y; } from; void *array; extent at; struct { void *at; size_t pitch, x, y; } to; extent size; int kind; } copy = {
        .from = {texels, sizeof *texels * SIZE, SIZE, SIZE}, .array = a, .size = {SIZE, SIZE, depth}, .kind = TO_DEVICE};
    say("copy", cudaMemcpy3D(&copy));
    resource.is.array = a;
    say("texture", cudaCreateTextureObject(&image, &resource, &how, NULL));
    cudaLaunchKernel(layered ? &cube_layered : &cube, (dim3){1, 1, 1}, (dim3){32, 1, 1}, (void *[]){&image, &n, &to[0], &to[1], &to[2], &layer, &out}, 0, NULL);
    say("result", cudaMemcpy(found, out, sizeof found, TO_HOST));
    for (int k = 0; k < FACES; k++) printf("%g%c", found[k][0], k < FACES - 1 ? ' ' : '\n');
    cudaDestroyTextureObject(image), cudaFreeArray(a);
  }
}
static void asserts(void) {
  int n = 61;
  say("launch", cudaLaunchKernel(&failing, (dim3){2, 1, 1}, (dim3){64, 1, 1}, (void *[]){&n}, 0, NULL));
  say("synchronize", cudaDeviceSynchronize());
}
static void limits(void) {
  enum { PENDING = 4, HEAP = 2, TAIL = 2 };
  int n = 6, which = TAIL, slowly = 0, found[5];
  say("heap", cudaDeviceSetLimit(HEAP, 1 << 20));
  say("pending", cudaDeviceSetLimit(PENDING, 4));
  cudaLaunchKernel(&pending, (dim3){1, 1, 1}, (dim3){1, 1, 1}, (void *[]){&n, &which, &slowly}, 0, NULL);
  say("copy", cudaMemcpyFromSymbol(found, &result, sizeof found, 0, TO_HOST));
  printf("%d run, %d refused with %d\n", found[0], found[2], found[3]);
}

int main(int n, char **words) {
  static const struct { const char *name; void (*run)(void); } scenarios[] = {
#define SCENARIO(name) {#name, name}
      SCENARIO(plain), SCENARIO(unwritten), SCENARIO(memory), SCENARIO(managed), SCENARIO(dereference), SCENARIO(frees), SCENARIO(copies), SCENARIO(short_buffers), SCENARIO(shapes), SCENARIO(wrong),
      SCENARIO(keeps), SCENARIO(host_pointer), SCENARIO(trap), SCENARIO(threads), SCENARIO(forks), SCENARIO(forks_first), SCENARIO(exits), SCENARIO(stays),
      SCENARIO(crashes), SCENARIO(killed), SCENARIO(waits), SCENARIO(server_dies), SCENARIO(missing), SCENARIO(times), SCENARIO(texture), SCENARIO(cubes),
      SCENARIO(asserts), SCENARIO(limits), SCENARIO(captures), SCENARIO(leaves), SCENARIO(nodes), SCENARIO(objects), SCENARIO(graph_memory)};
  load(words[1]);
  for (size_t k = 0; k < sizeof scenarios / sizeof *scenarios; k++)
    if (!strcmp(words[2], scenarios[k].name)) return scenarios[k].run(), fflush(stdout), 0;
  return 97;
}
