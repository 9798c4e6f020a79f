// Atomics on few words of global memory: which lanes of a warp meet at a word, or in a sector; by Nsight Compute.
#include "common.cuh"

enum { REDUCE, ANSWER, MAXIMUM };  // adds, adds and waits for what was there, largest value

template <class T, int OP> __device__ __forceinline__ void change(T *word) {
  if (OP == REDUCE) atomicAdd(word, T(1));
  if constexpr (OP == MAXIMUM) atomicMax(word, T(1));
  if (OP == ANSWER && atomicAdd(word, T(1)) == T(-1)) *word = 0;
}

// Threads, of each warp the first `lanes`, change n words, which are `stride` words apart, in turn: `same` neighbours the
// same.  Blocks have words of their own if `own` is not 0.
template <class T, int OP> __global__ void turns(T *data, unsigned same, unsigned n, unsigned stride, unsigned own, unsigned lanes) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 32 < lanes) change<T, OP>(data + blockIdx.x * own + i / same % n * stride);
}

// Threads change one of n words that a hash gives.
template <class T, int OP> __global__ void bins(T *data, unsigned n) {
  change<T, OP>(data + hashed(blockIdx.x * blockDim.x + threadIdx.x) % n);
}

// The first `many` lanes of each warp change one word, each other lane its own.
template <class T> __global__ void uneven(T *data, unsigned many) {
  unsigned lane = threadIdx.x % 32;
  change<T, REDUCE>(data + (lane < many ? 0 : lane));
}

// A histogram of words in memory.
extern "C" __global__ void binned(const unsigned *which, unsigned *data, unsigned mask) {
  change<unsigned, REDUCE>(data + (which[blockIdx.x * blockDim.x + threadIdx.x] & mask));
}

template <class T, int OP> void in_turn(void *data, std::vector<unsigned> ns) {
  for (unsigned n : ns) turns<T, OP><<<1024, 256>>>((T *)data, 1, n, 1, 0, 32);
}

template <class T, int OP> void anywhere(void *data, std::vector<unsigned> ns) {
  for (unsigned n : ns) bins<T, OP><<<1024, 256>>>((T *)data, n);
}

template <class T, int OP> void alike(void *data, std::vector<std::pair<unsigned, unsigned>> pairs) {
  for (auto [same, n] : pairs) turns<T, OP><<<1024, 256>>>((T *)data, same, n, 1, 0, 32);
}

template <class T, int OP> void apart(void *data, std::vector<std::pair<unsigned, unsigned>> pairs) {
  for (auto [n, stride] : pairs) turns<T, OP><<<1024, 256>>>((T *)data, 1, n, stride, 0, 32);
}

template <class T> void of_their_own(T *data, unsigned own, std::vector<unsigned> ns) {
  for (unsigned n : ns) turns<T, REDUCE><<<1024, 256>>>(data, 1, n, 1, own, 32);
}

int main() {
  unsigned *data = allocate<unsigned>(1 << 20), *which = allocate<unsigned>(1 << 20);
  upload(which, Numbers().bytes<unsigned>(1 << 20));
  for (unsigned n : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100, 128, 1000})
    turns<unsigned, REDUCE><<<1000, 1000>>>(data, 1, n, 1, 0, 32);
  for (unsigned blocks : {1, 132, 1024})
    for (unsigned threads : {256, 1024})
      for (unsigned n : {1, 8, 16, 32, 100}) turns<unsigned, REDUCE><<<blocks, threads>>>(data, 1, n, 1, 0, 32);
  alike<unsigned, REDUCE>(data, {{2, 8}, {2, 16}, {2, 32}, {4, 8}, {4, 16}, {4, 32}, {8, 4}, {8, 8}, {16, 2}, {16, 8}, {32, 32}});
  apart<unsigned, REDUCE>(data, {{2, 8}, {4, 8}, {4, 4}, {8, 2}, {8, 4}, {8, 8}, {16, 2}, {16, 8}, {32, 2}, {32, 8}, {32, 32}});
  for (unsigned lanes : {1, 2, 4, 8, 16, 24}) turns<unsigned, REDUCE><<<1024, 256>>>(data, 1, 32, 1, 0, lanes);
  for (unsigned lanes : {2, 8}) turns<unsigned, REDUCE><<<1024, 256>>>(data, 1, 1, 1, 0, lanes);
  for (unsigned lanes : {4, 8}) turns<unsigned, REDUCE><<<1024, 256>>>(data, 1, lanes, 32 / lanes, 0, lanes);
  anywhere<unsigned, REDUCE>(data, {4, 8, 16, 32, 64, 128, 256});
  for (unsigned many : {2, 4, 8, 16, 24}) uneven<<<1024, 256>>>(data, many);
  binned<<<256, 1024>>>(which, data, 31);
  binned<<<2048, 512>>>(which, data, 255);
  binned<<<1024, 256>>>(which, data, 15);
  in_turn<float, REDUCE>(data, {1, 2, 4, 8, 10, 16, 24, 32, 64, 100});
  alike<float, REDUCE>(data, {{2, 16}, {4, 8}, {8, 4}, {2, 32}});
  apart<float, REDUCE>(data, {{4, 8}, {8, 4}, {16, 2}});
  anywhere<float, REDUCE>(data, {4, 8, 16, 32, 64, 256});
  for (unsigned many : {4, 16}) uneven<<<1024, 256>>>((float *)data, many);
  in_turn<double, REDUCE>(data, {1, 4, 8, 16, 32, 64});
  anywhere<double, REDUCE>(data, {4, 16, 64});
  in_turn<unsigned long long, REDUCE>(data, {1, 4, 8, 16, 32, 64});
  anywhere<unsigned long long, REDUCE>(data, {16, 64});
  in_turn<int, MAXIMUM>(data, {1, 8, 16, 32});
  anywhere<int, MAXIMUM>(data, {16});
  in_turn<unsigned, ANSWER>(data, {1, 4, 8, 16, 32, 64, 100});
  alike<unsigned, ANSWER>(data, {{2, 16}, {4, 8}});
  anywhere<unsigned, ANSWER>(data, {8, 32, 256});
  in_turn<float, ANSWER>(data, {1, 16, 32});
  anywhere<float, ANSWER>(data, {32});
  of_their_own(data, 32, {1, 8, 16, 32});
  of_their_own(data, 256, {1, 8, 16, 32});
  of_their_own((float *)data, 32, {1, 8, 16});
  finish();
  return 0;
}
