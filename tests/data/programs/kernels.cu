// The kernels of tests/driver/program.c.  See README.md for how kernels.cubin is made.
__constant__ float scale = 2;
__device__ int counter;

extern "C" __global__ void multiply(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] *= scale;
        atomicAdd(&counter, 1);
    }
}

extern "C" __global__ void beyond(float *x, int n)
{
    x[threadIdx.x] = 7;
    __syncthreads();
    if (threadIdx.x == 3)
        x[n] = 1;
}

extern "C" __global__ void forever(volatile int *stop)
{
    while (!*stop)
        ;
}

extern "C" __global__ void stop() { __trap(); }

extern "C" __global__ void sample(cudaTextureObject_t image, float *out)
{
    out[threadIdx.x] = tex2D<float>(image, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 + 0.5f);
}
