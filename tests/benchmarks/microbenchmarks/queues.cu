// When accesses of memory are issued that follow each other without a wait: how many of them the queues before the
// load/store unit take, of a warp, of a scheduler, of an SM.  Prints one JSON object of figures, and with an argument
// writes what they were computed from: per case and warp a line of the cycles before each access and after the last.
#include "common.cuh"

constexpr int N = 20;  // accesses of a warp
constexpr int NEAR = 32;

enum Kind { LOAD, STORE, SHARED, SHARED_STORE, REDUCE, ATOMIC, SHUFFLE };

// Lanes lie *across* words apart every *group* lanes, *within* words in it.
struct Pattern {
  unsigned group, within, across;
  __device__ unsigned first() const { return threadIdx.x % 32 % group * within + threadIdx.x % 32 / group * across; }
};

template <int KIND> __device__ __forceinline__ unsigned reach(unsigned *global, unsigned shared) {
  unsigned v = 0;
  if (KIND == LOAD) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(global) : "memory");
  if (KIND == STORE) asm volatile("st.global.u32 [%0], %1;" ::"l"(global), "r"(shared) : "memory");
  if (KIND == REDUCE) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(global), "r"(shared) : "memory");
  if (KIND == ATOMIC) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(global), "r"(shared) : "memory");
  if (KIND == SHARED) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(shared) : "memory");
  if (KIND == SHARED_STORE) asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared), "r"(shared) : "memory");
  if (KIND == SHUFFLE) asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(v) : "r"(shared));
  return v;
}

// Issues N accesses and notes when: cycles[0] is before the first, cycles[k] behind access k.
// They lie STEP words apart (of shared memory, NEAR): a constant, so that all share the registers of one address and no
// access waits for those.  With NEAR the lines are the same for all warps and L1 has them, else L2.
template <int KIND, int STEP> __device__ __forceinline__ void times(unsigned *cycles, unsigned *sink, unsigned *data, unsigned shared) {
  unsigned at[N + 1], v[N], sum = 0;
  at[0] = now();
#pragma unroll
  for (int k = 0; k < N; ++k) {
    v[k] = reach<KIND>(data + k * STEP, shared + k * NEAR * 4);
    at[k + 1] = now();
  }
#pragma unroll
  for (int k = 0; k < N; ++k) sum += v[k];
  if (sum == 0x12345) sink[threadIdx.x] = sum;
  if (threadIdx.x % 32 == 0)
#pragma unroll
    for (int k = 0; k <= N; ++k) cycles[threadIdx.x / 32 * (N + 1) + k] = at[k];
}

// The warps of *some* do A, those of *others* B, all at once.
template <int A, int B, int STEP>
__global__ __launch_bounds__(1024) void queued(unsigned *cycles, unsigned *sink, unsigned *data, Pattern a, Pattern b, unsigned some, unsigned others) {
  __shared__ unsigned array[8192];
  unsigned warp = threadIdx.x / 32, *own = data, sum = 0;
  bool is_a = some >> warp & 1, is_b = others >> warp & 1;
  Pattern mine = is_b ? b : a;
  for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) array[i] = 0;
  own += mine.first() + (STEP == NEAR ? 0 : warp * N * STEP);
  unsigned shared = (unsigned)__cvta_generic_to_shared(array + mine.first());
  for (int k = 0; k < N; ++k) sum += STEP == NEAR ? own[k * STEP] : __ldcg(own + k * STEP);
  if (sum == 0x12345) sink[threadIdx.x] = sum;
  for (int pass = 0; pass < 2; ++pass) {  // the second time the instructions are there
    __syncthreads();
    if (is_a) times<A, STEP>(cycles, sink, own, shared);
    else if (is_b) times<B, STEP>(cycles, sink, own, shared);
    __syncthreads();
    if (STEP != NEAR) own += 32 * N * STEP;
  }
}

constexpr Pattern ONE{32, 1, 0}, HALVES{16, 1, 1024}, FOUR{8, 1, 1024}, EIGHT{4, 1, 1024}, ALL{1, 0, 32}, APART{1, 0, 33};

FILE *raw = nullptr;
unsigned *d_times, *d_data;

// Warps 0, 4, ... are of the first scheduler.
unsigned of_scheduler(int count, int scheduler = 0) {
  unsigned mask = 0;
  for (int k = 0; k < count; ++k) mask |= 1u << (4 * k + scheduler);
  return mask;
}

template <int A, int B = A, int STEP = NEAR> void measure(const char *name, Pattern a, unsigned some, Pattern b = ONE, unsigned others = 0) {
  for (int round = 0; round < 2; ++round) {
    CHECK(cudaMemset(d_times, 0, 32 * (N + 1) * 4));
    queued<A, B, STEP><<<1, 1024>>>(d_times, d_sink, d_data, a, b, some, others);
  }
  std::vector<unsigned> t = download(d_times, 32 * (N + 1));
  unsigned first = ~0u;
  for (int w = 0; w < 32; ++w)
    if ((some | others) >> w & 1) first = std::min(first, t[w * (N + 1)]);
  for (int w = 0; raw && w < 32; ++w) {
    if (!((some | others) >> w & 1)) continue;
    fprintf(raw, "%s %d", name, w);
    for (int k = 0; k <= N; ++k) fprintf(raw, " %u", t[w * (N + 1) + k] - first);
    fprintf(raw, "\n");
  }
  for (unsigned mask : {some, others}) {
    double count = 0, sums[N + 1] = {};
    for (int w = 0; w < 32; ++w)
      if (mask >> w & 1) {
        ++count;
        for (int k = 0; k <= N; ++k) sums[k] += t[w * (N + 1) + k] - first;
      }
    for (int k = 2; count && k <= N; k += k < 16 ? 2 : 4) report(sums[k] / count, "%s%s.access%d", name, mask == some ? "" : ".others", k);
  }
}

template <int KIND, int STEP = NEAR> void each(const char *kind, const char *lines, Pattern pattern) {
  char name[80];
  for (int count : {1, 2, 4, 8}) {
    snprintf(name, sizeof name, "%s.%s.scheduler%d", kind, lines, count);
    measure<KIND, KIND, STEP>(name, pattern, of_scheduler(count));
  }
  for (int count : {4, 16, 32}) {
    snprintf(name, sizeof name, "%s.%s.warps%d", kind, lines, count);
    measure<KIND, KIND, STEP>(name, pattern, count == 32 ? ~0u : (1u << count) - 1);
  }
}

int main(int count, char **names) {
  start_clocked();
  d_times = allocate<unsigned>(32 * (N + 1));
  d_data = allocate<unsigned>(1 << 22);
  raw = count > 1 ? fopen(names[1], "w") : nullptr;
  each<LOAD>("load", "one", ONE);
  each<LOAD>("load", "halves", HALVES);
  each<LOAD>("load", "four", FOUR);
  each<LOAD>("load", "eight", EIGHT);
  each<LOAD>("load", "all", ALL);
  each<LOAD>("load", "apart", APART);
  each<LOAD, 1024>("load", "far", ONE);
  each<LOAD, 2048>("load", "far_halves", HALVES);
  each<STORE>("store", "one", ONE);
  each<STORE>("store", "halves", HALVES);
  each<STORE>("store", "all", ALL);
  each<REDUCE>("reduce", "one", ONE);
  each<ATOMIC>("atomic", "one", ONE);
  each<SHARED>("shared", "one", ONE);
  each<SHARED>("shared", "halves", HALVES);
  each<SHARED>("shared", "all", ALL);
  each<SHARED_STORE>("shared_store", "one", ONE);
  each<SHARED_STORE>("shared_store", "all", ALL);
  each<SHUFFLE>("shuffle", "one", ONE);
  // What others do meanwhile, on the same scheduler and on another one.
  measure<LOAD, LOAD>("load.all.beside.load.same", ALL, 0x111u, ONE, 0x1000u);
  measure<LOAD, LOAD>("load.all.beside.load.other", ALL, 0x111u, ONE, 0x2000u);
  measure<LOAD, SHARED>("load.all.beside.shared.same", ALL, 0x111u, ONE, 0x1000u);
  measure<LOAD, SHARED>("load.all.beside.shared.other", ALL, 0x111u, ONE, 0x2000u);
  measure<LOAD, SHUFFLE>("load.all.beside.shuffle.same", ALL, 0x111u, ONE, 0x1000u);
  measure<LOAD, SHUFFLE>("load.all.beside.shuffle.other", ALL, 0x111u, ONE, 0x2000u);
  measure<LOAD, STORE>("load.all.beside.store.same", ALL, 0x111u, ONE, 0x1000u);
  measure<LOAD, STORE>("load.all.beside.store.other", ALL, 0x111u, ONE, 0x2000u);
  measure<SHARED, LOAD>("shared.all.beside.load.same", ALL, 0x111u, ONE, 0x1000u);
  measure<SHARED, LOAD>("shared.all.beside.load.other", ALL, 0x111u, ONE, 0x2000u);
  measure<SHARED, SHARED>("shared.all.beside.shared.other", ALL, 0x111u, ONE, 0x2000u);
  measure<STORE, LOAD>("store.all.beside.load.same", ALL, 0x111u, ONE, 0x1000u);
  measure<STORE, LOAD>("store.all.beside.load.other", ALL, 0x111u, ONE, 0x2000u);
  end_report();
  return 0;
}
