// Linked with names_b.cu: both files have local symbols of the same names.
static __device__ int table[4] = {10, 11, 12, 13};
static __device__ int *pointer = table;
static __constant__ int bias = 100;
static __device__ __noinline__ int twist(int x) { return x * 3 + 1; }
static __device__ int (*volatile chosen)(int) = twist;

extern __device__ int shared_counter;
__device__ __noinline__ int other(int x);

extern "C" __global__ void first(int *out)
{
    int i = threadIdx.x;
    out[i] = table[i & 3] + pointer[i & 1] + bias + chosen(i);
    out[i + 32] = other(i);
    table[i & 3] += 1;
    if (i == 0) shared_counter = 5;
}
