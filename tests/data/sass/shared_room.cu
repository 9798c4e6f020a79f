// Kernels that other people's code asked for (docs/corpus.md): how much shared memory a block has, and who keeps some.

// Two warps with 8 KiB of static shared memory, and what the launch adds: the system's own KiB counts once.
extern "C" __global__ void room(float *out, int n)
{
    __shared__ float fixed[2048];
    extern __shared__ float more[];
    int t = threadIdx.x;
    for (int k = t; k < 2048; k += blockDim.x)
        fixed[k] = k * 0.5f;
    for (int k = t; k < n; k += blockDim.x)
        more[k] = k + blockIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = fixed[2047 - t] + more[(t * 7) % n];
}

// All 48 KiB that a kernel may have statically.
extern "C" __global__ void all_static(int *out)
{
    __shared__ int table[12288];
    int t = threadIdx.x;
    for (int k = t; k < 12288; k += blockDim.x)
        table[k] = k ^ blockIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = table[12287 - t] + table[(t * 97) % 12288];
}
