extern "C" __global__ void doubled(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
extern "C" __global__ void which(int* a) {
#if __CUDA_ARCH__ >= 900
    *a = 90;
#else
    *a = 80;
#endif
}
