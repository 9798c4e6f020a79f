// Blocks that meet at a barrier, after which one warp has more to do than the others: by Nsight Compute.
#include "common.cuh"

// The difference of each element and the one before it, which for the first thread the block before has loaded.
template <class T> __global__ void differences(const T *from, T *to) {
  extern __shared__ double room[];
  T *part = (T *)room;
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = from[i];
  __syncthreads();
  if (t > 0) to[i] = part[t] - part[t - 1];
  else if (i > 0) to[i] = part[t] - from[i - 1];
}

// The first thread sums n products that the others have made, and stores it or adds it to the first word.
template <bool ADD> __global__ void dots(const float *a, const float *b, float *to, int n) {
  extern __shared__ float products[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  products[t] = a[i] * b[i];
  __syncthreads();
  if (t) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += products[k];
  if (ADD) atomicAdd(to, sum);
  else to[blockIdx.x] = sum;
}

// All load a word, meet, and end.
__global__ void met(const float *from, float *to) {
  extern __shared__ float words[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float x = from[i];
  if (x == -1.0f) words[t] = x;
  __syncthreads();
  if (x == -2.0f) to[i] = words[t ^ 1];
}

// Sums in shared memory by threads whose words lie farther and farther apart.
__global__ void strided(const float *from, float *to) {
  extern __shared__ float sums[];
  unsigned t = threadIdx.x;
  sums[t] = from[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned at = 2 * s * t;
    if (at < blockDim.x) sums[at] += sums[at + s];
    __syncthreads();
  }
  if (t == 0) to[blockIdx.x] = sums[0];
}

// Arithmetic of doubles, by blocks of up to 1024 threads.
__global__ void powers(double *to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = 1.0 / pow(2.0, double(i));
}

int main() {
  float *a = allocate<float>(1 << 25), *b = allocate<float>(1 << 25), *to = allocate<float>(1 << 25);
  for (unsigned threads : {128, 256, 512, 1024}) differences<<<(1 << 24) / threads, threads, threads * 4>>>(a, to);
  differences<<<65536, 256, 2048>>>((const double *)a, (double *)to);
  differences<<<16384, 256, 24000>>>(a, to);
  differences<<<4096, 256, 1024>>>(a, to);
  differences<<<1024, 1024, 4096>>>(a, to);
  for (int threads : {128, 256, 512, 1024}) dots<false><<<10240000 / threads, threads, threads * 4>>>(a, b, to, threads);
  dots<false><<<40000, 256, 1024>>>(a, b, to, 64);
  dots<false><<<4096, 256, 1024>>>(a, b, to, 256);
  dots<true><<<40000, 256, 1024>>>(a, b, to, 256);
  dots<true><<<40000, 256, 1024>>>(a, b, to, 64);
  met<<<65536, 256, 1024>>>(a, to);
  met<<<4096, 256, 1024>>>(a, to);
  for (unsigned threads : {128, 256, 512, 1024}) strided<<<(1 << 23) / threads, threads, threads * 4>>>(a, to);
  for (unsigned threads : {256, 1024}) powers<<<10240000 / threads, threads>>>((double *)to);
  finish();
  return 0;
}
