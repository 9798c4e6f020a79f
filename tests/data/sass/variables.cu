// Variables of a module: what launches read and write, and what is kept from one to the next.

__constant__ float weights[4];               // nobody sets it in the file
__constant__ int offset = 5;
__device__ int counter;                       // zero at first
__device__ double table[3] = {0.5, 1.5, 2.5};
__device__ int *place = &counter;             // a pointer, relocated when the module is loaded

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ int (*chosen)(int) = twice;        // a pointer to a function, which kernels hand on

extern "C" __global__ void weigh(const int *in, float *out)
{
    out[threadIdx.x] = weights[threadIdx.x % 4] * in[threadIdx.x] + offset;
}

extern "C" __global__ void count() { atomicAdd(place, 1); }

extern "C" __global__ void point(int *elsewhere) { place = elsewhere; }

extern "C" __global__ void sum(double *out) { *out = table[0] + table[1] + table[2]; }

extern "C" __global__ void choose() { chosen = square; }

extern "C" __global__ void apply(int *data)
{
    data[threadIdx.x] = chosen(data[threadIdx.x]);
}

extern "C" __global__ void count_and_fail(int *data)
{
    counter = 99;
    data[threadIdx.x] = 7;
    __syncthreads();
    if (threadIdx.x == 3)
        data[1 << 20] = 1;
}
