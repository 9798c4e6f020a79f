// Kernels of the survey: arithmetic, reductions.
#pragma once

// --- arithmetic
template <class T> __global__ void mandelbrot(int *out, int w, int h, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    T cr = (T)-2 + (T)3 * x / w, ci = (T)-1.5 + (T)3 * y / h, zr = 0, zi = 0;
    int k = 0;
    while (k < most && zr * zr + zi * zi < 4) { T t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; k++; }
    out[y * w + x] = k;
}
__global__ void monte_carlo_pi(unsigned long long *total, int each) {
    unsigned s = hashed(I + 1);
    int in = 0;
    for (int k = 0; k < each; k++) {
        s = s * 1664525u + 1013904223u; float x = s / 4294967296.0f;
        s = s * 1664525u + 1013904223u; float y = s / 4294967296.0f;
        if (x * x + y * y <= 1) in++;
    }
    atomicAdd(total, (unsigned long long)in);
}
__global__ void primes(int *out, int n) {
    int i = I;
    if (i >= n || i < 2) return;
    int p = 1;
    for (int d = 2; d * d <= i; d++) if (i % d == 0) { p = 0; break; }
    out[i] = p;
}
__global__ void collatz(int *out, int n) {
    int i = I;
    if (i >= n) return;
    long long v = i + 1; int steps = 0;
    while (v != 1) { v = v % 2 ? 3 * v + 1 : v / 2; steps++; }
    out[i] = steps;
}
__global__ void gcds(const int *a, const int *b, int *out, int n) {
    int i = I;
    if (i >= n) return;
    int x = a[i] + 1, y = b[i] + 1;
    while (y) { int t = x % y; x = y; y = t; }
    out[i] = x;
}
__global__ void modpow(const int *a, long long *out, int n) {
    int i = I;
    if (i >= n) return;
    long long base = a[i], r = 1; int e = 65537;
    while (e) { if (e & 1) r = r * base % 1000000007LL; base = base * base % 1000000007LL; e >>= 1; }
    out[i] = r;
}
__global__ void black_scholes(const float *s, const float *x, const float *t, float *call, float *put, int n) {
    int i = I;
    if (i >= n) return;
    float root = sqrtf(t[i] + 1), d1 = (logf((s[i] + 1) / (x[i] + 1)) + 0.06f * (t[i] + 1)) / (0.3f * root), d2 = d1 - 0.3f * root;
    float k1 = 1 / (1 + 0.2316419f * fabsf(d1)), k2 = 1 / (1 + 0.2316419f * fabsf(d2));
    float c1 = expf(-0.5f * d1 * d1) * k1 * (0.31938f + k1 * (-0.35656f + k1 * 1.78147f)), c2 = expf(-0.5f * d2 * d2) * k2 * (0.31938f + k2 * (-0.35656f + k2 * 1.78147f));
    float e = expf(-0.02f * t[i]);
    call[i] = s[i] * c1 - x[i] * e * c2;
    put[i] = x[i] * e * (1 - c2) - s[i] * (1 - c1);
}
__global__ void black_scholes_double(const double *s, double *call, int n) {
    int i = I;
    if (i >= n) return;
    double v = s[i] + 1, d1 = (log(v / 40) + 0.2) / 0.3, d2 = d1 - 0.3;
    call[i] = v * 0.5 * erfc(-d1 / sqrt(2.0)) - 40 * exp(-0.02) * 0.5 * erfc(-d2 / sqrt(2.0));
}
__global__ void functions(const float *x, float *y, int n) {
    int i = I;
    if (i < n) y[i] = sinf(x[i]) * cosf(x[i]) + powf(x[i] + 1, 1.7f) + tanhf(x[i]) + atan2f(x[i], 3.0f);
}
__global__ void functions_large(const float *x, float *y, int n) {
    int i = I;
    if (i < n) y[i] = sinf(x[i] * 100000.0f) + cosf(x[i] * 200000.0f);
}
__global__ void integrate(double *out, int each) {
    double s = 0, h = 1.0 / ((double)gridDim.x * blockDim.x * each);
    for (int k = 0; k < each; k++) { double x = (I * (double)each + k + 0.5) * h; s += 4.0 / (1 + x * x); }
    out[I] = s * h;
}
__global__ void mixing(const unsigned *x, unsigned *y, int rounds) {
    unsigned a = x[I], b = 0x9e3779b9, c = I, d = 7, w[16];
    for (int k = 0; k < 16; k++) w[k] = a * k + b;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 16; k++) {
            unsigned t = w[k] + ((a & b) ^ (~a & c)) + __funnelshift_l(d, d, 7);
            w[(k + 5) & 15] += t; d = c; c = __funnelshift_l(b, b, 30); b = a; a = t + __funnelshift_l(a, a, 5);
        }
    y[I] = a ^ b ^ c ^ d;
}
__global__ void crc_table(const byte *x, const unsigned *table, unsigned *out, int each) {
    unsigned crc = ~0u;
    for (int k = 0; k < each; k++) crc = table[(crc ^ x[I * each + k]) & 255] ^ (crc >> 8);
    out[I] = ~crc;
}
__constant__ unsigned table_c[256];
__global__ void crc_constant(const byte *x, unsigned *out, int each) {
    unsigned crc = ~0u;
    for (int k = 0; k < each; k++) crc = table_c[(crc ^ x[k * gridDim.x * blockDim.x + I]) & 255] ^ (crc >> 8);
    out[I] = ~crc;
}
__global__ void half_axpy(const __half2 *x, __half2 *y, int n) {
    int i = I;
    if (i < n) y[i] = __hfma2(__float2half2_rn(1.5f), x[i], y[i]);
}
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recursion(int *out, int n) { out[I] = fib(n + (I & 3)); }
struct Shape { __device__ virtual float area(float v) { return v; } };
struct Square : Shape { __device__ float area(float v) override { return v * v; } };
struct Circle : Shape { __device__ float area(float v) override { return 3.14159f * v * v; } };
__global__ void virtual_calls(const float *x, float *y, int n) {
    int i = I;
    if (i >= n) return;
    Square s; Circle c;
    Shape *p = (hashed(i) & 1) ? (Shape *)&s : (Shape *)&c;
    float t = 0;
    for (int k = 0; k < 8; k++) t += p->area(x[i] + k);
    y[i] = t;
}

// --- reductions
__global__ void dot_block(const float *x, const float *y, float *out, int n) {
    __shared__ float s[256];
    float t = 0;
    for (int i = I; i < n; i += gridDim.x * blockDim.x) t += x[i] * y[i];
    s[threadIdx.x] = t;
    __syncthreads();
    for (int d = blockDim.x / 2; d != 0; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void reduce_modulo(const int *x, int *out) {
    extern __shared__ int s[];
    s[threadIdx.x] = x[I];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) { if (threadIdx.x % (2 * d) == 0) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void reduce_atomic_block(const int *x, int *out, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = I;
    if (i < n) atomicAdd(&s, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, s);
}
__global__ void reduce_last_block(const float *x, float *part, unsigned *count, float *out, int n) {
    float t = 0;
    for (int i = I; i < n; i += gridDim.x * blockDim.x) t += x[i];
    for (int d = 16; d; d /= 2) t += __shfl_down_sync(~0u, t, d);
    __shared__ float s[32]; __shared__ bool last;
    if ((threadIdx.x & 31) == 0) s[threadIdx.x / 32] = t;
    __syncthreads();
    if (threadIdx.x == 0) {
        float u = 0;
        for (int k = 0; k < blockDim.x / 32; k++) u += s[k];
        part[blockIdx.x] = u;
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) { float u = 0; for (int k = 0; k < gridDim.x; k++) u += part[k]; *out = u; }
}
