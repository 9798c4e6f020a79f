// Kernels whose metrics tests/profile/test_ncu_names.py compares with Nsight Compute's: global, shared and local memory.

/* Loads and stores with a stride, from an address that is not a multiple of 128 bytes. */
extern "C" __global__ void strided(float *out, const float *in, int stride, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i + 1] = in[i * stride + 3] + 1.0f;
}

/* Every third thread loads a byte; pairs of threads store eight bytes. */
extern "C" __global__ void sparse(double *out, const unsigned char *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int byte = i % 3 == 0 && i < n ? in[i] : 0;
    if ((i & 2) == 0 && i < n)
        out[i] = byte;
}

/* Shared memory with and without bank conflicts. */
extern "C" __global__ void conflicts(int *out, int stride)
{
    __shared__ int words[32 * 33];
    int lane = threadIdx.x & 31;
    for (int k = threadIdx.x; k < 32 * 33; k += blockDim.x)
        words[k] = k * k;
    __syncthreads();
    int sum = words[lane * stride];
    if (lane % 4 == 0)
        sum += words[lane];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* An array that each thread indexes by data: it lies in local memory. */
extern "C" __global__ void local_array(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int counts[16];
    for (int k = 0; k < 16; k++)
        counts[k] = k;
    if (i < n)
        for (int k = 0; k < 8; k++)
            counts[(in[i] >> k) & 15] += k;
    out[i] = counts[in[i] & 15];
}

/* A stream from DRAM and to it, longer than L2. */
extern "C" __global__ void stream(float4 *out, const float4 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
