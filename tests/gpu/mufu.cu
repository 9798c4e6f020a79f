// All 2^32 operands of each function of the multi-function unit: a digest per block of 2^23 operands, and first results.
// record_mufu.py compiles the kernels to a cubin, lets MUFU.SIN and MUFU.COS see their operand as it is, and runs them.
#include <cstdint>

template <int F> __device__ uint32_t mufu(uint32_t bits) {
    float x = __uint_as_float(bits), y = 0;
    if (F >= 8) {
        double wide = __hiloint2double(bits, 0);
        if (F == 8) asm volatile("rcp.approx.ftz.f64 %0, %0;" : "+d"(wide));
        if (F == 9) asm volatile("rsqrt.approx.ftz.f64 %0, %0;" : "+d"(wide));
        return __double2hiint(wide);
    }
    if (F == 0) asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    if (F == 1) asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    if (F == 2) asm volatile("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    if (F == 3) asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    if (F == 4) asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    if (F == 5) asm volatile("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    if (F == 6) asm volatile("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    if (F == 7) asm volatile("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return __float_as_uint(y);
}

// One thread block takes 2^16 operands; digests: 512, zero before; results: 512 x 8.
template <int F> __device__ void record(unsigned long long *digests, uint32_t *results) {
    unsigned long long total = 0;
    for (uint32_t i = threadIdx.x; i < 1 << 16; i += blockDim.x) {
        uint32_t operand = blockIdx.x << 16 | i;
        uint32_t result = mufu<F>(operand);
        if ((operand & 0x7fffff) < 8) results[(operand >> 23) * 8 + (operand & 7)] = result;
        unsigned long long x = ((unsigned long long)result << 32 | operand) * 0xBF58476D1CE4E5B9ull;
        x ^= x >> 29;
        x *= 0x94D049BB133111EBull;
        total += x ^ x >> 32;
    }
    atomicAdd(digests + (blockIdx.x >> 7), total);
}

#define KERNEL(NAME, F) \
    extern "C" __global__ void NAME(unsigned long long *digests, uint32_t *results) { record<F>(digests, results); }
KERNEL(mufu_rcp, 0)
KERNEL(mufu_rsq, 1)
KERNEL(mufu_sqrt, 2)
KERNEL(mufu_ex2, 3)
KERNEL(mufu_lg2, 4)
KERNEL(mufu_sin, 5)
KERNEL(mufu_cos, 6)
KERNEL(mufu_tanh, 7)
KERNEL(mufu_rcp64h, 8)
KERNEL(mufu_rsq64h, 9)
