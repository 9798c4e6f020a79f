// Kernels of the survey: local arrays, atomics, moving data, divergence.
#pragma once

// --- local arrays
__global__ void local_hist(int n, const byte *x, int *out) {
    int h[64];
    for (int k = 0; k < 64; k++) h[k] = 0;
    int threads = gridDim.x * blockDim.x;
    for (int i = I; i < n; i += threads) h[x[i] & 63]++;
    for (int k = 0; k < 64; k++) atomicAdd(&out[k], h[k]);
}
__global__ void local_sort(const int *x, int *y, int each) {
    int a[48];
    for (int k = 0; k < each; k++) a[k] = x[I * each + k];
    for (int i = 1; i < each; i++) {
        int v = a[i], j = i - 1;
        while (j >= 0 && a[j] > v) { a[j + 1] = a[j]; j--; }
        a[j + 1] = v;
    }
    for (int k = 0; k < each; k++) y[I * each + k] = a[k];
}
__global__ void local_big(const float *x, float *y, int n) {
    float a[256];
    for (int k = 0; k < 256; k++) a[k] = x[(I + k * 7) % n];
    float s = 0;
    for (int r = 1; r < 4; r++)
        for (int k = 0; k < 256; k++) s += a[(k * r + (int)s) & 255];
    y[I] = s;
}

// --- atomics
__global__ void atomic_turns(int *out, int n) { atomicAdd(&out[I % n], 1); }
__global__ void compact_atomic(const int *x, int *y, int *count, int n) {
    int i = I;
    if (i < n && (x[i] & 3) == 0) y[atomicAdd(count, 1)] = x[i];
}
__global__ void hist_global(const byte *x, unsigned *bins, int n) {
    int i = I;
    if (i < n) atomicAdd(&bins[x[i]], 1u);
}
__global__ void hist_shared(const byte *x, unsigned *bins, int n) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = I; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
__device__ void max_float(float *at, float v) {
    int *as = (int *)at, old = *as, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= v) break;
        old = atomicCAS(as, seen, __float_as_int(v));
    } while (old != seen);
}
__global__ void max_cas(const float *x, float *out, int n) {
    int i = I;
    if (i < n) max_float(out + (i & 7), x[i]);
}
__global__ void sum_atomic_double(const double *x, double *out, int n) {
    int i = I;
    if (i < n) atomicAdd(out, x[i]);
}
__global__ void hash_insert(const int *keys, int *table, int n, int size) {
    int i = I;
    if (i >= n) return;
    int key = keys[i] | 1;
    unsigned at = hashed(key) % size;
    while (true) {
        int old = atomicCAS(&table[at], 0, key);
        if (old == 0 || old == key) return;
        at = (at + 1) % size;
    }
}

// --- moving data
__global__ void saxpy(int n, float a, const float *x, float *y) { int i = I; if (i < n) y[i] = a * x[i] + y[i]; }
__global__ void saxpy_stride(int n, float a, const float *x, float *y) { for (int i = I; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i]; }
__global__ void saxpy_chunks(int n, float a, const float *x, float *y) {
    int each = n / (gridDim.x * blockDim.x);
    for (int i = I * each; i < (I + 1) * each; i++) y[i] = a * x[i] + y[i];
}
__global__ void copy_vectors(const float4 *x, float4 *y, int n) { int i = I; if (i < n) y[i] = x[i]; }
__global__ void copy_spaced(const float *x, float *y, int n, int step) { int i = I * step; if (i < n) y[i] = x[i]; }
__global__ void reverse(const int *x, int *y, int n) { int i = I; if (i < n) y[n - 1 - i] = x[i]; }
__global__ void gather(const int *at, const float *x, float *y, int n) { int i = I; if (i < n) y[i] = x[at[i]]; }
__global__ void scatter(const int *at, const float *x, float *y, int n) { int i = I; if (i < n) y[at[i]] = x[i]; }
__global__ void iota(int *y, int n) { int i = I; if (i < n) y[i] = i; }
__global__ void fill_double(double *y, int n) { int i = I; if (i < n) y[i] = 1.5; }
__global__ void add_3d(const float *x, float *y, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < nx && j < ny && k < nz) y[(i * ny + j) * nz + k] += x[(i * ny + j) * nz + k];
}
__global__ void big_shared(const float *x, float *y, int rounds) {
    extern __shared__ float wide[];
    int n = 12288;
    for (int i = threadIdx.x; i < n; i += blockDim.x) wide[i] = x[blockIdx.x * 64 + i];
    __syncthreads();
    float t = 0;
    for (int r = 0; r < rounds; r++) t += wide[(threadIdx.x * 17 + r * 97) % n];
    y[I] = t;
}
__global__ void chase(const int *next, int *out, int steps) { int at = I; for (int k = 0; k < steps; k++) at = next[at]; out[I] = at; }
__global__ void softmax_row(const float *x, float *y, int n) {
    const float *row = x + (size_t)I * n;
    float m = -1e30f, s = 0;
    for (int k = 0; k < n; k++) m = fmaxf(m, row[k]);
    for (int k = 0; k < n; k++) s += expf(row[k] - m);
    for (int k = 0; k < n; k++) y[(size_t)I * n + k] = expf(row[k] - m) / s;
}
__global__ void layer_norm(const float *x, float *y, int n) {
    __shared__ float s[256], q[256];
    float a = 0, b = 0;
    for (int k = threadIdx.x; k < n; k += 256) { float v = x[blockIdx.x * n + k]; a += v; b += v * v; }
    s[threadIdx.x] = a; q[threadIdx.x] = b;
    __syncthreads();
    for (int d = 128; d; d /= 2) { if (threadIdx.x < d) { s[threadIdx.x] += s[threadIdx.x + d]; q[threadIdx.x] += q[threadIdx.x + d]; } __syncthreads(); }
    float mean = s[0] / n, inv = rsqrtf(q[0] / n - mean * mean + 1e-5f);
    for (int k = threadIdx.x; k < n; k += 256) y[blockIdx.x * n + k] = (x[blockIdx.x * n + k] - mean) * inv;
}
__global__ void attention_scores(const float *q, const float *k, float *s, int n, int d) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    float t = 0;
    for (int m = 0; m < d; m++) t += q[i * d + m] * k[j * d + m];
    s[i * n + j] = t / sqrtf((float)d);
}
__global__ void max_pool(const float *x, float *y, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float m = -1e30f;
    for (int b = 0; b < 2; b++) for (int a = 0; a < 2; a++) m = fmaxf(m, x[(2 * j + b) * w + 2 * i + a]);
    y[j * (w / 2) + i] = m;
}
__global__ void string_search(const byte *text, const byte *pattern, int *found, int n, int m) {
    int i = I;
    if (i > n - m) return;
    int k = 0;
    while (k < m && (text[i + k] & 3) == (pattern[k] & 3)) k++;
    if (k == m) atomicAdd(found, 1);
}

// --- divergence
__global__ void cases(const int *x, int *y, int n) {
    int i = I;
    if (i >= n) return;
    int v = x[i];
    switch (v & 7) {
        case 0: v = v * v + 1; break;
        case 1: v = v / 3; break;
        case 2: v = __popc(v) * 17; break;
        case 3: v = v % 1001; break;
        case 4: v = (int)sqrtf((float)v); break;
        case 5: for (int k = 0; k < 5; k++) v = v * 31 + k; break;
        case 6: v = ~v; break;
        default: v = x[(v >> 3) % n];
    }
    y[i] = v;
}
__global__ void trips(const int *x, float *y, int n) {
    int i = I;
    if (i >= n) return;
    float s = 1;
    for (int k = 0; k < (x[i] & 255); k++) s = s * 1.0001f + 0.5f;
    y[i] = s;
}
__global__ void mostly_idle(const int *x, int *y, int n) { int i = I; if (i < n) y[i] = x[i] + 1; }
