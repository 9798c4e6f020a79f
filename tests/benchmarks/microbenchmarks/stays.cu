// How long warps stay on an SM: blocks that do nothing, only compute, only store, or only add, of 32 to 1024 threads.
// With an argument writes when each warp began, where, and when it was through, as 32-bit words (SM and place, begin, end).
#include "common.cuh"

__global__ void empty() {}

// A chain of *work* FFMAs.
__global__ void computed(float *sink, unsigned work) {
  float x = threadIdx.x;
  for (unsigned k = 0; k < work; ++k) x = x * 1.0001f + 1.0f;
  if (x == -1.0f) sink[0] = x;
}

// Each thread stores a word: its own, or with a mask all blocks to the same lines.
__global__ void filled(unsigned *to, unsigned mask) { to[(blockIdx.x * blockDim.x + threadIdx.x) & mask] = 1; }

// Blocks of x by y threads store to rows of *width* words.
__global__ void tiled(unsigned *to, unsigned width) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width) to[y * width + x] = x;
}

// Threads store words a stride apart.
__global__ void strided(unsigned *to, unsigned stride) { to[(blockIdx.x * blockDim.x + threadIdx.x) * stride] = 1; }

// All threads, or one of each warp, add to one word.
template <class T> __global__ void added(T *to, unsigned lanes) {
  if (threadIdx.x % 32 < lanes) atomicAdd(to, T(1));
}

__global__ void copied(const float *from, float *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

__global__ void summed(const float *a, const float *b, float *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = a[i] + b[i];
}

// Each block stores all *n* words, from its own place on or, not APART, all from the first.
template <bool APART> __global__ void each(unsigned *to, unsigned n) {
  unsigned first = APART ? blockIdx.x * (n / gridDim.x) : 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    unsigned at = first + i;
    to[at < n ? at : at - n] = i;
  }
}

// Each block scales a row of *n* words by what all blocks read.
__global__ void scaled(const float *scale, const float *from, float *to, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) to[blockIdx.x * n + i] = scale[i] * from[blockIdx.x * n + i];
}

// Threads add to *many* words in turn.
__global__ void counted(unsigned *to, unsigned many) { atomicAdd(to + (blockIdx.x * blockDim.x + threadIdx.x) % many, 1); }

enum { NOTHING, COMPUTE, FILL, ADD, ADD_FLOAT, COPY };

// Does one of these, and each warp notes when and where.
template <int WHAT> __global__ void stamped(unsigned *stamps, const float *from, float *to, unsigned *word, unsigned work) {
  unsigned begin = now(), i = blockIdx.x * blockDim.x + threadIdx.x, sm = own_sm(), place = own_place();
  float x = threadIdx.x;
  if (WHAT == COMPUTE) {
    for (unsigned k = 0; k < work; ++k) x = x * 1.0001f + 1.0f;
    if (x == -1.0f) to[0] = x;
  }
  if (WHAT == FILL) to[i] = 1.0f;
  if (WHAT == COPY) to[i] = from[i];
  if (threadIdx.x % 32 == 0) {
    stamps[i / 32 * 3] = sm << 8 | place;
    stamps[i / 32 * 3 + 1] = begin;
    stamps[i / 32 * 3 + 2] = now();
  }
  if (WHAT == ADD) atomicAdd(word, 1u);
  if (WHAT == ADD_FLOAT) atomicAdd((float *)word, 1.0f);
}

template <int WHAT> void stamp(FILE *file, unsigned blocks, unsigned threads, unsigned work, unsigned *stamps, float *from, float *to, unsigned *word) {
  for (int warm = 0; warm < 2; ++warm) {
    stamped<WHAT><<<blocks, threads>>>(stamps, from, to, word, work);
    finish();
  }
  auto found = download(stamps, size_t(blocks) * threads / 32 * 3);
  unsigned head[4] = {WHAT, blocks, threads, work};
  fwrite(head, 4, 4, file);
  fwrite(found.data(), 4, found.size(), file);
}

int main(int count, char **names) {
  const unsigned MI = 1 << 20, ALL = 0xFFFFFFFF;
  float *from = allocate<float>(32 * MI), *to = allocate<float>(96 * MI);
  unsigned *words = (unsigned *)to, *word = allocate<unsigned>(1024);
  if (count > 1) {
    unsigned *stamps = allocate<unsigned>(1 << 20);
    FILE *file = fopen(names[1], "wb");
    for (unsigned threads : {32u, 256u, 1024u}) {
      unsigned blocks = 132 * (threads == 32 ? 96 : threads == 256 ? 32 : 10);
      stamp<NOTHING>(file, blocks, threads, 0, stamps, from, to, word);
      stamp<COMPUTE>(file, blocks, threads, 256, stamps, from, to, word);
      stamp<FILL>(file, blocks, threads, 0, stamps, from, to, word);
      stamp<COPY>(file, blocks, threads, 0, stamps, from, to, word);
      stamp<ADD>(file, blocks, threads, 0, stamps, from, to, word);
      if (threads > 32) stamp<ADD_FLOAT>(file, blocks, threads, 0, stamps, from, to, word);
    }
    fclose(file);
    return 0;
  }
  for (unsigned threads : {32, 64, 128, 256, 512, 1024})
    for (unsigned blocks : {132, 1056, 8448}) empty<<<blocks, threads>>>();
  for (unsigned threads : {32, 128, 256, 512, 1024})
    for (unsigned work : {16, 64, 256}) computed<<<threads == 32 ? 12672 : 4224, threads>>>(to, work);
  for (unsigned threads : {32, 64, 128, 256, 512, 1024}) {
    filled<<<33792, threads>>>(words, ALL);
    filled<<<33792, threads>>>(words, 127);
    filled<<<33792, threads>>>(words, 65535);
  }
  tiled<<<dim3(16384, 2), dim3(8, 8)>>>(words, 131072);
  tiled<<<dim3(256, 256), dim3(8, 8)>>>(words, 2048);
  tiled<<<dim3(128, 128), dim3(16, 16)>>>(words, 2048);
  tiled<<<dim3(64, 64), dim3(32, 32)>>>(words, 2048);
  tiled<<<dim3(63, 63), dim3(32, 32)>>>(words, 2000);
  tiled<<<dim3(512, 16), dim3(4, 64)>>>(words, 2048);
  for (unsigned threads : {128, 256, 1024})
    for (unsigned stride : {2, 4, 8, 16}) strided<<<2 * MI / threads, threads>>>(words, stride);
  for (unsigned threads : {128, 256, 512, 1024}) {
    added<unsigned><<<132 * 8192 / threads, threads>>>(word, 32);
    added<unsigned><<<132 * 8192 / threads, threads>>>(word, 1);
    added<float><<<132 * 8192 / threads, threads>>>((float *)word, 32);
    added<float><<<132 * 8192 / threads, threads>>>((float *)word, 1);
  }
  for (unsigned mi : {1, 4, 16})
    for (unsigned threads : {64, 128, 256, 512, 1024}) copied<<<mi * MI / threads, threads>>>(from, to);
  for (unsigned mi : {1, 4, 16})
    for (unsigned threads : {256, 1024}) summed<<<mi * MI / threads, threads>>>(from, from + 16 * MI, to);
  for (unsigned n : {1 << 16, 1 << 17, 320000, 1 << 19})
    for (unsigned threads : {256, 512, 1024}) summed<<<n / threads, threads>>>(from, from + 16 * MI, to);
  for (unsigned n : {1 << 16, 1 << 20, 1 << 23}) {
    each<false><<<132, 256>>>(words, n);
    each<true><<<132, 256>>>(words, n);
    each<true><<<32, 512>>>(words, n);
  }
  for (unsigned n : {1 << 10, 1 << 12, 1 << 14}) scaled<<<16 * MI / 4 / n, 256>>>(from + 16 * MI, from, to, n);
  for (unsigned many : {1, 10, 100})
    for (unsigned threads : {256, 1024}) {
      counted<<<100 * 1024 / threads, threads>>>(word, many);
      counted<<<1000 * 1024 / threads, threads>>>(word, many);
    }
  finish();
  return 0;
}
