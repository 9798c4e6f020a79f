// When the warps of blocks begin, have their data, and are through: first waves from cold caches, and blocks that jam at one word.
// With an argument writes that for each warp, as 32-bit words: SM and place, and the cycles of four places in its code.
#include "common.cuh"

template <class T> __global__ void copied(const T *from, T *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

template <class T> __global__ void summed(const T *a, const T *b, T *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = a[i] + b[i];
}

// Each block adds its words to one.
template <class T> __global__ void reduced(const T *from, T *to) {
  __shared__ T part[32];
  T x = from[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 16; k; k /= 2) x += __shfl_down_sync(0xFFFFFFFF, x, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
    T sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) sum += part[w];
    atomicAdd(to, sum);
  }
}

// All blocks load, add and store the same words.
__global__ void shared_by_all(float *words) { words[threadIdx.x] += 1.0f; }

enum { COPY, SUM, SUM_DOUBLE, REDUCE, REDUCE_FLOAT, STORE };

__device__ void note(unsigned *stamps, unsigned begin, unsigned asked, unsigned there, unsigned through) {
  unsigned sm = own_sm(), place = own_place(), w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0) {
    ((uint4 *)stamps)[w] = make_uint4(begin, (asked - begin) << 8 | place, there - begin, (through - begin) << 8 | sm);
  }
}

template <class T> __device__ __forceinline__ unsigned when_there(T value) {
  unsigned c;
  if (sizeof(T) == 8)
    asm volatile("{ .reg .pred p; setp.eq.f64 p, %1, 0d4058C00000000000; @p trap; mov.u32 %0, %%clock; }" : "=r"(c) : "d"((double)value) : "memory");
  else
    asm volatile("{ .reg .pred p; setp.eq.f32 p, %1, 0f42C60000; @p trap; mov.u32 %0, %%clock; }" : "=r"(c) : "f"((float)value) : "memory");
  return c;
}

template <int WHAT, class T> __global__ void stamped(unsigned *stamps, const T *a, const T *b, T *to) {
  unsigned begin = now(), i = blockIdx.x * blockDim.x + threadIdx.x, asked, there = begin;
  __shared__ T part[32];
  asm volatile("mov.u32 %0, %%clock;" : "=r"(asked) : "r"(i) : "memory");
  T x = 0;
  if (WHAT == COPY || WHAT == REDUCE || WHAT == REDUCE_FLOAT) x = a[i];
  if (WHAT == SUM || WHAT == SUM_DOUBLE) x = a[i] + b[i];
  if (WHAT != STORE) there = when_there(x);
  if (WHAT == REDUCE || WHAT == REDUCE_FLOAT) {
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
      T sum = 0;
      for (unsigned w = 0; w < blockDim.x / 32; ++w) sum += part[w];
      if (WHAT == REDUCE) atomicAdd((int *)to, (int)sum); else atomicAdd((float *)to, (float)sum);
    }
  } else
    to[i] = x;
  note(stamps, begin, asked, there, now());
}

template <int WHAT, class T> void stamp(FILE *file, unsigned blocks, unsigned threads, unsigned *stamps, char *memory, char *others) {
  const size_t MB = 1 << 20;
  for (int k = 0; k < 3; ++k) {
    CHECK(cudaMemset(others, 0, 160 * MB));
    finish();
    stamped<WHAT, T><<<blocks, threads>>>(stamps, (T *)memory, (T *)(memory + 64 * MB), (T *)(memory + 128 * MB));
    finish();
    auto found = download(stamps, size_t(blocks) * threads / 32 * 4);
    unsigned head[3] = {WHAT, blocks, threads};
    fwrite(head, 4, 3, file);
    fwrite(found.data(), 4, found.size(), file);
  }
}

int main(int count, char **names) {
  const size_t MB = 1 << 20;
  char *memory = allocate<char>(192 * MB), *others = allocate<char>(160 * MB);
  float *from = (float *)memory, *more = (float *)(memory + 64 * MB), *to = (float *)(memory + 128 * MB);
  if (count > 1) {
    unsigned *stamps = allocate<unsigned>(1 << 20);
    FILE *file = fopen(names[1], "wb");
    struct { unsigned blocks, threads; } shapes[] = {{32, 1024}, {64, 1024}, {128, 1024}, {264, 1024}, {312, 1024}, {625, 512}, {264, 512}, {256, 256}, {512, 256}, {1056, 256}, {1250, 256}, {2048, 256}, {2112, 128}};
    for (auto s : shapes) {
      stamp<COPY, float>(file, s.blocks, s.threads, stamps, memory, others);
      stamp<SUM, float>(file, s.blocks, s.threads, stamps, memory, others);
    }
    stamp<STORE, float>(file, 128, 1024, stamps, memory, others);
    stamp<STORE, float>(file, 2112, 128, stamps, memory, others);
    stamp<SUM_DOUBLE, double>(file, 98, 1024, stamps, memory, others);
    stamp<SUM_DOUBLE, double>(file, 196, 1024, stamps, memory, others);
    stamp<REDUCE, float>(file, 8448, 128, stamps, memory, others);
    stamp<REDUCE_FLOAT, float>(file, 8448, 128, stamps, memory, others);
    stamp<REDUCE_FLOAT, float>(file, 4224, 256, stamps, memory, others);
    fclose(file);
    return 0;
  }
  for (unsigned blocks : {32, 64, 98, 128, 264}) {
    copied<<<blocks, 1024>>>(from, to);
    summed<<<blocks, 1024>>>(from, more, to);
  }
  summed<<<98, 1024>>>((double *)from, (double *)more, (double *)to);
  summed<<<196, 1024>>>((double *)from, (double *)more, (double *)to);
  for (unsigned blocks : {264, 1056}) {
    copied<<<blocks, 256>>>(from, to);
    summed<<<blocks, 256>>>(from, more, to);
  }
  summed<<<131072, 128>>>(from, more, to);
  summed<<<65536, 128>>>((double *)from, (double *)more, (double *)to);
  for (unsigned threads : {128, 256, 1024}) {
    reduced<<<8192 * 1024 / threads, threads>>>(from, to);
    reduced<<<8192 * 1024 / threads, threads>>>((int *)from, (int *)to);
    shared_by_all<<<8192 * 1024 / threads, threads>>>(to);
  }
  finish();
  return 0;
}
