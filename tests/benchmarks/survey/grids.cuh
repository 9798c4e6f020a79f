// Kernels of the survey: bytes and pictures, stencils, grids, sorting, searching, scans.
#pragma once

// --- bytes and pictures
__global__ void copy_bytes(const byte *x, byte *y, int n) { int i = I; if (i < n) y[i] = x[i]; }
__global__ void gray(const byte *rgb, byte *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    out[i] = 0.21f * rgb[3 * i] + 0.71f * rgb[3 * i + 1] + 0.07f * rgb[3 * i + 2];
}
__global__ void box_blur(const byte *in, byte *out, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0, count = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            int a = x + dx, b = y + dy;
            if (a >= 0 && a < w && b >= 0 && b < h) { sum += in[b * w + a]; count++; }
        }
    out[y * w + x] = sum / count;
}
__global__ void sobel(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const float *p = in + y * w + x;
    float gx = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
    float gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    out[y * w + x] = sqrtf(gx * gx + gy * gy);
}
__constant__ float taps[81];
__global__ void conv_constant(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int j = -4; j <= 4; j++)
        for (int i = -4; i <= 4; i++) {
            int a = min(max(x + i, 0), w - 1), b = min(max(y + j, 0), h - 1);
            s += taps[(j + 4) * 9 + i + 4] * in[b * w + a];
        }
    out[y * w + x] = s;
}

// --- stencils, grids
__global__ void stencil_1d(const int *x, int *y) {
    __shared__ int s[256 + 14];
    int g = I + 7, l = threadIdx.x + 7;
    s[l] = x[g];
    if (threadIdx.x < 7) { s[l - 7] = x[g - 7]; s[l + 256] = x[g + 256]; }
    __syncthreads();
    int t = 0;
    for (int k = -7; k <= 7; k++) t += s[l + k];
    y[g] = t;
}
template <class T> __global__ void heat_2d(const T *x, T *y, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && j > 0 && i < w - 1 && j < h - 1) {
        int c = j * w + i;
        y[c] = x[c] + (T)0.1 * (x[c - 1] + x[c + 1] + x[c - w] + x[c + w] - (T)4 * x[c]);
    }
}
__global__ void heat_3d(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i > 0 && j > 0 && k > 0 && i < n - 1 && j < n - 1 && k < n - 1) {
        int c = (k * n + j) * n + i;
        y[c] = 0.4f * x[c] + 0.1f * (x[c - 1] + x[c + 1] + x[c - n] + x[c + n] + x[c - n * n] + x[c + n * n]);
    }
}
__global__ void life(const int *x, int *y, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) n += x[((j + dy + h) % h) * w + (i + dx + w) % w] & 1;
    y[j * w + i] = n == 3 || (n == 2 && (x[j * w + i] & 1));
}
__global__ void jacobi_block(float *a, float *b, int n, int rounds) {
    for (int r = 0; r < rounds; r++) {
        for (int i = threadIdx.x + 1; i < n - 1; i += blockDim.x) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
        __syncthreads();
        float *t = a; a = b; b = t;
    }
}
__global__ void floyd(int *d, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j < n) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
__global__ void lcs_diagonals(const byte *a, const byte *b, int *t, int n) {
    for (int d = 2; d <= 2 * n; d++) {
        for (int i = threadIdx.x + 1; i <= n; i += blockDim.x) {
            int j = d - i;
            if (j >= 1 && j <= n) {
                int w = n + 1;
                t[i * w + j] = a[i - 1] == b[j - 1] ? t[(i - 1) * w + j - 1] + 1 : max(t[(i - 1) * w + j], t[i * w + j - 1]);
            }
        }
        __syncthreads();
    }
}

// --- sorting, searching, scans
__global__ void bitonic_step(int *a, int j, int k) {
    unsigned i = I, other = i ^ j;
    if (other > i) {
        int x = a[i], y = a[other];
        if (((i & k) == 0) == (x > y)) { a[i] = y; a[other] = x; }
    }
}
__global__ void bitonic_block(int *a) {
    extern __shared__ int s[];
    s[threadIdx.x] = a[I];
    __syncthreads();
    for (int k = 2; k <= blockDim.x; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int o = threadIdx.x ^ j;
            if (o > threadIdx.x) {
                bool up = (threadIdx.x & k) == 0;
                if ((s[threadIdx.x] > s[o]) == up) { int t = s[o]; s[o] = s[threadIdx.x]; s[threadIdx.x] = t; }
            }
            __syncthreads();
        }
    a[I] = s[threadIdx.x];
}
__global__ void odd_even(int *a, int n) {
    for (int r = 0; r < n; r++) {
        int i = 2 * threadIdx.x + (r & 1);
        if (i + 1 < n && a[i] > a[i + 1]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; }
        __syncthreads();
    }
}
__global__ void rank_sort(const int *x, int *y, int n) {
    int i = I;
    if (i >= n) return;
    int v = x[i], r = 0;
    for (int k = 0; k < n; k++) r += x[k] < v || (x[k] == v && k < i);
    y[r] = v;
}
__global__ void binary_search(const int *sorted, const int *keys, int *out, int n, int m) {
    int i = I;
    if (i >= m) return;
    int key = keys[i], lo = 0, hi = n;
    while (lo < hi) { int mid = (lo + hi) / 2; if (sorted[mid] < key) lo = mid + 1; else hi = mid; }
    out[i] = lo;
}
__global__ void hillis(const int *x, int *y) {
    __shared__ int s[1024];
    s[threadIdx.x] = x[I];
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        int v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += v;
    }
    y[I] = s[threadIdx.x];
}
__global__ void blelloch(const int *x, int *y) {
    extern __shared__ int s[];
    int t = threadIdx.x, n = 2 * blockDim.x, offset = 1, at = blockIdx.x * n;
    s[2 * t] = x[at + 2 * t]; s[2 * t + 1] = x[at + 2 * t + 1];
    for (int d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) { int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1, v = s[i]; s[i] = s[j]; s[j] += v; }
    }
    __syncthreads();
    y[at + 2 * t] = s[2 * t]; y[at + 2 * t + 1] = s[2 * t + 1];
}
__global__ void scan_alone(const int *x, int *y, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; }
}
__global__ void scan_warp(const int *x, int *y, int n) {
    int i = I, v = i < n ? x[i] : 0, lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }
    if (i < n) y[i] = v;
}
