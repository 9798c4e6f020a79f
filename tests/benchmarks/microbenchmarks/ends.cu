// How launches end: brief blocks with and without stores, copies larger than L2, atomics of lone lanes, code that is
// fetched for the first time; by Nsight Compute.
#include "common.cuh"

constexpr int BLOCK = 256;

// One lane of each warp adds to one of `words` words; with RESULT it waits for what was there.
template <class T, bool RESULT> __global__ void lone(T *data, T *out, unsigned words, unsigned trips) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (threadIdx.x % 32) return;
  T sum = 0;
  for (unsigned k = 0; k < trips; ++k) {
    T before = atomicAdd(&data[(warp + k) % words], (T)1);
    if (RESULT) sum += before;
  }
  if (RESULT) out[warp] = sum;
}

// All lanes add to one word, or each to its own of a line.
template <class T> __global__ void lanes(T *data, unsigned mask) { atomicAdd(&data[threadIdx.x & mask], (T)1); }

extern "C" __global__ void filled(float *to, float value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }

extern "C" __global__ void copied(const float *from, float *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

extern "C" __global__ void scaled(float *data) { data[blockIdx.x * blockDim.x + threadIdx.x] *= 3.0f; }

extern "C" __global__ void triad(const float *a, const float *b, float *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = a[i] + 3.0f * b[i];
}

extern "C" __global__ void wide(const float4 *from, float4 *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

// Brief blocks: `work` dependent operations, and 0 nothing, 1 a store, 2 a load and a store.
template <int ACCESS> __global__ void brief(unsigned *data, unsigned work) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i;
  for (unsigned k = 0; k < work; ++k) x = x * 1.0001f + 1.0f;
  if (ACCESS == 2) x += data[i];
  if (ACCESS || x == -1.0f) data[i] = (unsigned)x;
}

// N operations in a row, without a branch.
template <int N> __global__ void straight(float *out, float a) {
  float x = a;
#pragma unroll
  for (int k = 0; k < N; ++k) x = x * a + (float)k * 0.37f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Every thread walks the same list of zeros for a one, in vain.
extern "C" __global__ void search(const double *list, const double *wanted, unsigned *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  double mine = wanted[i];
#pragma unroll 1
  for (; k < n; ++k)
    if (list[k] >= mine) break;
  out[i] = k;
}

template <class T> void atomics(void *data, void *out) {
  lone<T, false><<<1024, BLOCK>>>((T *)data, (T *)out, 1, 2);
  lone<T, true><<<1024, BLOCK>>>((T *)data, (T *)out, 1, 2);
  lone<T, false><<<1024, BLOCK>>>((T *)data, (T *)out, 16, 2);
  lanes<T><<<512, BLOCK>>>((T *)data, 0);
  lanes<T><<<512, BLOCK>>>((T *)data, 31);
}

int main() {
  float *a = allocate<float>(1 << 26), *b = allocate<float>(1 << 26), *c = allocate<float>(1 << 26);
  atomics<unsigned>(a, b);
  atomics<float>(a, b);
  atomics<double>(a, b);
  finish();
  CHECK(cudaMemset(a, 0, 4096));
  for (unsigned blocks : {16384u, 131072u}) {
    filled<<<blocks, BLOCK>>>(b, 1.0f);
    copied<<<blocks, BLOCK>>>(a, b);
    scaled<<<blocks, BLOCK>>>(b);
    triad<<<blocks, BLOCK>>>(a, c, b);
    wide<<<blocks / 4, BLOCK>>>((float4 *)a, (float4 *)b);
  }
  for (unsigned threads : {32u, 256u})
    for (unsigned blocks : {1056u, 4096u})
      for (unsigned work : {0u, 256u}) {
        brief<0><<<blocks, threads>>>((unsigned *)a, work);
        brief<1><<<blocks, threads>>>((unsigned *)a, work);
        brief<2><<<blocks, threads>>>((unsigned *)a, work);
      }
  CHECK(cudaMemset(a, 0, 1 << 26));
  for (unsigned threads : {32u, 1024u}) {
    straight<64><<<SMS, threads>>>(b, 0.5f);
    straight<512><<<SMS, threads>>>(b, 0.5f);
    straight<2048><<<SMS, threads>>>(b, 0.5f);
    straight<4096><<<SMS, threads>>>(b, 0.5f);
  }
  upload((double *)c, std::vector<double>(SMS * 512, 1.0));
  for (unsigned blocks : {2u, 132u})
    for (unsigned threads : {32u, 512u}) search<<<blocks, threads>>>((double *)a, (double *)c, (unsigned *)b, 1024);
  finish();
  return 0;
}
