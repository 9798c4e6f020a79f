// Loads and shared-memory patterns with known answers, one statement a line, so that a profile by line shows each.
__global__ void copy(const float *in, float *out){
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void strided(const float *in, float *out, int stride){
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}
__global__ void misaligned(const float *in, float *out, int offset){
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + offset];
}
__global__ void broadcast(const float *in, float *out){
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i / 32];
}
__global__ void scatter(const int *index, const float *in, float *out){
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = index[i];
  out[i] = in[j];
}
__global__ void conflict(float *out, int stride){
  __shared__ float tile[1024];
  int i = threadIdx.x;
  for (int k = i; k < 1024; k += blockDim.x)
    tile[k] = k;
  __syncthreads();
  float value = tile[i * stride % 1024];
  out[blockIdx.x * blockDim.x + i] = value;
}
__global__ void __launch_bounds__(256) many_registers(const float *in, float *out){
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value[96];
#pragma unroll
  for (int k = 0; k < 96; ++k)
    value[k] = in[i + k * 256];
#pragma unroll
  for (int k = 0; k < 96; ++k)
    value[k] = value[k] * value[(k * 7 + 5) % 96];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 96; ++k)
    sum += value[k] * value[(k * 11 + 3) % 96];
  out[i] = sum;
}
