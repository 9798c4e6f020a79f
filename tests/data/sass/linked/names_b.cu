// Linked with names_a.cu: both files have local symbols of the same names.
static __device__ int table[8] = {20, 21, 22, 23, 24, 25, 26, 27};
static __device__ int *pointer = table;
static __constant__ int bias = 200;
static __device__ __noinline__ int twist(int x) { return x * 5 + 2; }
static __device__ int (*volatile chosen)(int) = twist;

__device__ int shared_counter = 3;
__device__ __noinline__ int other(int x) { return bias + table[x & 7]; }

extern "C" __global__ void second(int *out)
{
    int i = threadIdx.x;
    out[i] = table[i & 7] + pointer[i & 3] + bias + chosen(i);
    out[i + 32] = shared_counter;
    table[i & 7] += 1;
}

__global__ void hidden(int *out) { out[threadIdx.x] = table[threadIdx.x & 7]; }
