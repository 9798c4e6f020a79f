// A kernel that launches itself with half as many threads, until one is left.
//
//   simt nvprof nested_hello.cu [THREADS [BLOCKS]]
//   nvcc -O3 -arch=sm_90 -rdc=true -o nested_hello nested_hello.cu -lcudadevrt && ./nested_hello 8
//
// Thread 0 of each block launches a child, so that 8 threads greet at depth 0, 4 at depth 1, 2 and 1.  A child's lines
// come after its launch; in which order two children of different blocks print is open.
#include "common.h"

__global__ void hello(unsigned depth) {
  printf("depth %u: hello from thread %u of block %u\n", depth, threadIdx.x, blockIdx.x);
  const unsigned half = blockDim.x / 2;
  if (half == 0 || threadIdx.x != 0) return;
  hello<<<1, half>>>(depth + 1);
  if (cudaGetLastError() != cudaSuccess) printf("depth %u: the launch fails\n", depth);
}

int main(int argc, char **argv) {
  const unsigned threads = number(argc, argv, 1, 8), blocks = number(argc, argv, 2, 1);
  hello<<<blocks, threads>>>(0);
  finish();
  return 0;
}
