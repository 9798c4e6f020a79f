// Other ways to memory than LDG of the GPU's own: generic addresses, asynchronous copies, textures, memory of the host;
// how launches end; by Nsight Compute.  An argument names one of these parts, or `pages`: chains and words anywhere in
// tables of up to 16 GiB, which is no part of the others.
#include "common.cuh"
#include <cstring>
#include <cuda_pipeline.h>
#include <string>

constexpr int BLOCK = 256;

struct Global { static __device__ unsigned get(const unsigned *p) { return __ldcg(p) ; } };
struct Generic {
  static __device__ unsigned get(const unsigned *p) {
    unsigned v;
    asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
  }
};
struct Copied {  // by way of shared memory
  static __device__ unsigned get(const unsigned *p) {
    __shared__ unsigned here[32];
    __pipeline_memcpy_async(&here[threadIdx.x], p, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    return *(volatile unsigned *)&here[threadIdx.x];
  }
};

// One thread follows a chain of indices.
template <class Get> __global__ void chase(const unsigned *next, unsigned *out, unsigned hops) {
  unsigned i = 0;
#pragma unroll 1
  for (unsigned k = 0; k < hops; ++k) i = Get::get(next + i);
  out[0] = i;
}

extern "C" __global__ void chaseTexture(cudaTextureObject_t next, unsigned *out, unsigned hops) {
  unsigned i = 0;
#pragma unroll 1
  for (unsigned k = 0; k < hops; ++k) i = tex1Dfetch<unsigned>(next, i);
  out[0] = i;
}

// Each thread adds a word to its own.
template <bool GENERIC> __global__ void added(const unsigned *from, unsigned *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (GENERIC) {
    unsigned v = Generic::get(from + i) + 1;
    asm volatile("st.u32 [%0], %1;" ::"l"(to + i), "r"(v) : "memory");
  } else
    to[i] = from[i] + 1;
}

// Each thread brings SIZE bytes four times to shared memory, and adds up what came.
template <int SIZE> __global__ void staged(const unsigned *from, unsigned *to) {
  __shared__ __align__(16) unsigned here[4][BLOCK * SIZE / 4];
  unsigned words = SIZE / 4, mine = threadIdx.x * words;
  for (int k = 0; k < 4; ++k)
    __pipeline_memcpy_async(&here[k][mine], from + (blockIdx.x * 4 + k) * BLOCK * words + mine, SIZE);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  unsigned sum = 0;
  for (int k = 0; k < 4; ++k) sum += here[k][mine];
  to[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

// A warp brings a line at a time to shared memory, DEPTH of them under way.
template <int DEPTH> __global__ void pipelined(const unsigned *from, unsigned *to, unsigned trips) {
  __shared__ unsigned here[DEPTH][32];
  const unsigned *mine = from + blockIdx.x * 32 + threadIdx.x;
  unsigned sum = 0, step = gridDim.x * 32;
  for (int k = 0; k < DEPTH - 1; ++k, mine += step) {
    __pipeline_memcpy_async(&here[k][threadIdx.x], mine, 4);
    __pipeline_commit();
  }
#pragma unroll 1
  for (unsigned trip = 0; trip < trips; trip += DEPTH) {
#pragma unroll
    for (int k = 0; k < DEPTH; ++k, mine += step) {
      __pipeline_memcpy_async(&here[(k + DEPTH - 1) % DEPTH][threadIdx.x], mine, 4);
      __pipeline_commit();
      __pipeline_wait_prior(DEPTH - 1);
      sum += here[k][threadIdx.x];
    }
  }
  to[blockIdx.x * 32 + threadIdx.x] = sum;
}

// Each thread fetches a texel of a linear texture, or of a picture in tiles of 16 x 16.
extern "C" __global__ void fetched(cudaTextureObject_t from, float *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = tex1Dfetch<float>(from, i);
}

// The same texels over and over.
extern "C" __global__ void again(cudaTextureObject_t from, float *to, unsigned trips) {
  unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
  float sum = 0;
  for (unsigned k = 0; k < trips; ++k) sum += tex2D<float>(from, x + (k & 7) + 0.5f, y + 0.5f);
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void pictured(cudaTextureObject_t from, float *to, float shift) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  to[y * gridDim.x * blockDim.x + x] = tex2D<float>(from, x + shift, y + shift);
}

// Lanes ask for words anywhere in a table of 2^bits of them.
extern "C" __global__ void anywhere(const unsigned *table, unsigned *to, unsigned bits, unsigned trips) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i, sum = 0;
  for (unsigned k = 0; k < trips; ++k) {
    x = x * 1664525u + 1013904223u;
    sum += table[(size_t)((x * 2654435769u) >> 2) & (((size_t)1 << bits) - 1)];
  }
  to[i] = sum;
}

// 64 bits of table index, where a table has more than 2^30 words.
extern "C" __global__ void far(const unsigned *table, unsigned *to, unsigned lines, unsigned stride, unsigned trips) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i, sum = 0;
  for (unsigned k = 0; k < trips; ++k) {
    x = x * 1664525u + 1013904223u;
    sum += table[(size_t)((x * 2654435769u) % lines) * stride];
  }
  to[i] = sum;
}

extern "C" __global__ void written(unsigned *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = i;
}

extern "C" __global__ void wideAdded(const uint4 *from, uint4 *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 v = from[i];
  v.x += 1;
  to[i] = v;
}

// Blocks of differing lengths of work: trips, and `more` for each block of the last `late`.
extern "C" __global__ void uneven(float *to, unsigned trips, unsigned more, unsigned late) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i;
  if (blockIdx.x >= gridDim.x - late) trips += more;
  for (unsigned k = 0; k < trips; ++k) x = x * 1.0001f + 1.0f;
  to[i] = x;
}

// A chain through every `stride` bytes of `count`.
void link(void *data, size_t stride, unsigned count, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  std::vector<unsigned> next(count);
  for (unsigned k = 0; k < count; ++k) next[k] = unsigned((k + 1) % count * (stride / 4));
  CHECK(cudaMemcpy2D(data, stride, next.data(), 4, 4, count, kind));
}

cudaTextureObject_t linear(const void *data, size_t bytes, cudaChannelFormatKind kind) {
  cudaResourceDesc what = {};
  what.resType = cudaResourceTypeLinear;
  what.res.linear = {const_cast<void *>(data), {32, 0, 0, 0, kind}, bytes};
  cudaTextureDesc how = {};
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
  return texture;
}

cudaTextureObject_t picture(unsigned width, unsigned height, cudaTextureFilterMode filter) {
  cudaArray_t array;
  cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  CHECK(cudaMallocArray(&array, &format, width, height));
  std::vector<float> zeros(size_t(width) * height);
  CHECK(cudaMemcpy2DToArray(array, 0, 0, zeros.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaResourceDesc what = {};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  cudaTextureDesc how = {};
  how.filterMode = filter;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
  return texture;
}

int main(int count, char **names) {
  size_t GIB = (size_t)1 << 30;
  std::string only = count > 1 ? names[1] : "";
  auto wanted = [&](const char *part) { return only.empty() || only == part; };
  unsigned *big, *out = allocate<unsigned>(1 << 26);
  CHECK(cudaMalloc(&big, only == "pages" ? 16 * GIB : GIB));
  CHECK(cudaMemset(big, 0, GIB));
  if (wanted("generic")) {
    for (unsigned lines : {128u, 16384u}) {
      link(big, 128, lines);
      for (unsigned hops : {lines, lines + 4096}) {
        chase<Global><<<1, 1>>>(big, out, hops);
        chase<Generic><<<1, 1>>>(big, out, hops);
        chase<Copied><<<1, 1>>>(big, out, hops);
      }
    }
    CHECK(cudaMemset(big, 0, GIB));
    for (unsigned blocks : {1056u, 16384u, 131072u}) {
      added<false><<<blocks, BLOCK>>>(big, out);
      added<true><<<blocks, BLOCK>>>(big, out);
      staged<4><<<blocks, BLOCK>>>(big, out);
      if (blocks < 100000) staged<16><<<blocks, BLOCK>>>(big, out);
    }
    pipelined<1><<<SMS, 32>>>(big, out, 256);
    pipelined<2><<<SMS, 32>>>(big, out, 256);
    pipelined<4><<<SMS, 32>>>(big, out, 256);
  }
  if (wanted("texture")) {
    for (unsigned lines : {128u, 16384u}) {
      link(big, 128, lines);
      cudaTextureObject_t chain = linear(big, lines * 128, cudaChannelFormatKindUnsigned);
      for (unsigned hops : {lines, lines + 4096}) chaseTexture<<<1, 1>>>(chain, out, hops);
    }
    CHECK(cudaMemset(big, 0, GIB));
    cudaTextureObject_t line = linear(big, 1 << 27, cudaChannelFormatKindFloat);
    for (unsigned blocks : {1056u, 16384u, 131072u}) fetched<<<blocks, BLOCK>>>(line, (float *)out);
    for (unsigned width : {512u, 2048u, 4096u}) {
      cudaTextureObject_t point = picture(width, width, cudaFilterModePoint), smooth = picture(width, width, cudaFilterModeLinear);
      dim3 grid(width / 16, width / 16), block(16, 16), rows(width / 256, width);
      pictured<<<grid, block>>>(point, (float *)out, 0.5f);
      pictured<<<rows, 256>>>(point, (float *)out, 0.5f);
      pictured<<<grid, block>>>(smooth, (float *)out, 1.0f);
      pictured<<<dim3(width / 8, width / 8), dim3(8, 8)>>>(point, (float *)out, 0.5f);
      for (unsigned threads : {32u, 256u, 1024u})
        if (width == 512) {
          again<<<SMS, threads>>>(point, (float *)out, 256);
          again<<<SMS, threads>>>(smooth, (float *)out, 256);
        }
    }
  }
  if (only == "pages") {
    for (unsigned lines : {16u, 64u, 256u, 1024u, 4096u})
      for (size_t stride : {size_t(1) << 12, size_t(1) << 16, size_t(1) << 19, size_t(1) << 21, size_t(1) << 22}) {
        if (lines * stride > 16 * GIB || (lines < 1024 && stride < (1 << 16))) continue;
        link(big, stride, lines);
        for (unsigned hops : {lines, lines + 4096}) chase<Global><<<1, 1>>>(big, out, hops);
      }
    CHECK(cudaMemset(big, 0, 16 * GIB));
    for (unsigned bits : {22u, 24u, 26u, 28u, 30u}) anywhere<<<1056, BLOCK>>>(big, out, bits, 8);
    for (unsigned stride : {32u, 1024u, 16384u, 131072u, 524288u}) {
      far<<<1056, BLOCK>>>(big, out, 8192, stride, 8);
      if (stride <= 16384u) far<<<1056, BLOCK>>>(big, out, 262144, stride, 8);
    }
  }
  if (wanted("host")) {
    unsigned *host, *seen;
    CHECK(cudaHostAlloc(&host, 1 << 28, cudaHostAllocMapped));
    memset(host, 0, 1 << 28);
    CHECK(cudaHostGetDevicePointer(&seen, host, 0));
    for (unsigned lines : {128u, 2048u}) {
      link(host, 128, lines, cudaMemcpyHostToHost);
      for (unsigned hops : {lines, lines + 1024}) chase<Generic><<<1, 1>>>(seen, out, hops);
    }
    memset(host, 0, 1 << 28);
    for (unsigned blocks : {1u, 8u, 132u, 1056u, 4096u, 16384u}) {
      added<false><<<blocks, BLOCK>>>(seen, out);
      added<false><<<blocks, BLOCK>>>(big, seen);
      added<false><<<blocks, BLOCK>>>(seen, seen + (1 << 25));
      if (blocks <= 4096u) wideAdded<<<blocks, BLOCK>>>((uint4 *)seen, (uint4 *)out);
      if (blocks <= 4096u) wideAdded<<<blocks, BLOCK>>>((uint4 *)big, (uint4 *)seen);
      written<<<blocks, BLOCK>>>(seen);
    }
  }
  if (wanted("ends")) {
    for (unsigned late : {0u, 1u, 132u, 528u})
      for (unsigned blocks : {1056u, 4224u}) uneven<<<blocks, BLOCK>>>((float *)out, 1000, 4000, late);
    for (unsigned blocks : {1024u, 1056u, 2048u, 4096u, 8192u, 32768u})
      for (unsigned threads : {64u, 256u, 1024u}) {
        if (blocks * threads > (1u << 25)) continue;
        written<<<blocks, threads>>>(out);
        added<false><<<blocks, threads>>>(big, out);
      }
  }
  finish();
  return 0;
}
