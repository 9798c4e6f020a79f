// Kernels of the survey: dense algebra, particles, distances, graphs, sparse rows, transforms.
#pragma once

// --- dense algebra
template <class T> __global__ void product(const T *a, const T *b, T *c, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    T s = 0;
    if (row < n && col < n) {
        for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
        c[row * n + col] = s;
    }
}
__global__ void product_by_rows(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
template <class T, int TILE> __global__ void product_tiled(const T *a, const T *b, T *c, int n) {
    __shared__ T as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    T s = 0;
    for (int m = 0; m < n / TILE; m++) {
        as[threadIdx.y][threadIdx.x] = a[row * n + m * TILE + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(m * TILE + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) s += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = s;
}
__global__ void product_registers(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][64], bs[16][64];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float s[4][4] = {};
    for (int m = 0; m < n; m += 16) {
        for (int k = threadIdx.x; k < 1024; k += 256) {
            as[k % 16][k / 16] = a[(row0 + k / 16) * n + m + k % 16];
            bs[k / 64][k % 64] = b[(m + k / 64) * n + col0 + k % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) s[i][j] += as[k][ty * 4 + i] * bs[k][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = s[i][j];
}
__global__ void matvec_row(const float *a, const float *x, float *y, int rows, int n) {
    int r = I;
    if (r >= rows) return;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[r * n + k] * x[k];
    y[r] = s;
}
__global__ void matvec_col(const float *a, const float *x, float *y, int rows, int n) {
    int r = I;
    if (r >= rows) return;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[k * rows + r] * x[k];
    y[r] = s;
}
__global__ void matvec_block(const float *a, const float *x, float *y, int n) {
    extern __shared__ float part[];
    float s = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) s += a[blockIdx.x * n + k] * x[k];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
__global__ void eliminate(float *a, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y + k + 1, j = blockIdx.x * blockDim.x + threadIdx.x + k;
    if (i < n && j < n) a[i * n + j] -= a[i * n + k] / (a[k * n + k] + 1.0f) * a[k * n + j];
}
__global__ void lu_block(float *a, int n) {
    for (int k = 0; k < n; k++) {
        __syncthreads();
        for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) a[i * n + k] /= a[k * n + k] + 100.0f;
        __syncthreads();
        for (int i = k + 1 + threadIdx.x / 32; i < n; i += blockDim.x / 32)
            for (int j = k + 1 + threadIdx.x % 32; j < n; j += 32) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}
template <int W> __global__ void transpose_tile(const float *x, float *y, int n, int rows) {
    __shared__ float tile[32][W];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += rows) tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * n + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += rows) y[(r + k) * n + c] = tile[threadIdx.x][threadIdx.y + k];
}
__global__ void transpose_plain(const float *x, float *y, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    y[c * n + r] = x[r * n + c];
}

// --- particles, distances
__global__ void nbody(const float4 *p, float4 *v, int n) {
    int i = I;
    float4 me = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
        float4 q = p[j];
        float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
        float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float f = q.w * inv * inv * inv;
        ax += f * dx; ay += f * dy; az += f * dz;
    }
    v[i].x += ax; v[i].y += ay; v[i].z += az;
}
__global__ void nbody_shared(const float4 *p, float4 *v, int n) {
    __shared__ float4 tile[128];
    int i = I;
    float4 me = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int t = 0; t < n; t += blockDim.x) {
        tile[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float4 q = tile[j];
            float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
            float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = q.w * inv * inv * inv;
            ax += f * dx; ay += f * dy; az += f * dz;
        }
        __syncthreads();
    }
    v[i] = make_float4(ax, ay, az, 0);
}
__global__ void kmeans_assign(const float *points, const float *centres, int *labels, int n, int k, int dims) {
    int i = I;
    if (i >= n) return;
    float best = 1e30f; int label = 0;
    for (int c = 0; c < k; c++) {
        float d = 0;
        for (int m = 0; m < dims; m++) { float t = points[i * dims + m] - centres[c * dims + m]; d += t * t; }
        if (d < best) { best = d; label = c; }
    }
    labels[i] = label;
}
struct Particle { float x, y, z, vx, vy, vz, m; };
__global__ void move_structs(Particle *p, int n, float dt) {
    int i = I;
    if (i >= n) return;
    p[i].x += p[i].vx * dt; p[i].y += p[i].vy * dt; p[i].z += p[i].vz * dt;
    if (p[i].x < 0 || p[i].x > 100) p[i].vx = -p[i].vx;
}

// --- graphs, sparse rows
__global__ void spmv_scalar(const int *rows, const int *cols, const float *v, const float *x, float *y, int n) {
    int r = I;
    if (r >= n) return;
    float s = 0;
    for (int k = rows[r]; k < rows[r + 1]; k++) s += v[k] * x[cols[k]];
    y[r] = s;
}
__global__ void spmv_vector(const int *rows, const int *cols, const float *v, const float *x, float *y, int n) {
    int r = I / 32, lane = threadIdx.x & 31;
    if (r >= n) return;
    float s = 0;
    for (int k = rows[r] + lane; k < rows[r + 1]; k += 32) s += v[k] * x[cols[k]];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (lane == 0) y[r] = s;
}
__global__ void bfs_level(const int *rows, const int *cols, int *level, int now, int n, int *more) {
    int v = I;
    if (v >= n || (level[v] & 7) != now) return;
    for (int k = rows[v]; k < rows[v + 1]; k++) { int u = cols[k]; if ((level[u] & 7) > now) { level[u] = now + 1; *more = 1; } }
}
__global__ void push_ranks(const int *rows, const int *cols, const float *rank, float *next, int n) {
    int v = I;
    if (v >= n) return;
    int from = rows[v], to = rows[v + 1];
    float share = rank[v] / (to - from + 1);
    for (int k = from; k < to; k++) atomicAdd(&next[cols[k]], share);
}

// --- transforms
__global__ void dft(const float *x, float2 *y, int n) {
    int k = I;
    float re = 0, im = 0;
    for (int t = 0; t < n; t++) { float a = -6.2831853f * k * t / n; re += x[t] * cosf(a); im += x[t] * sinf(a); }
    y[k] = make_float2(re, im);
}
__global__ void fft_block(float2 *data) {
    __shared__ float2 s[1024];
    int t = threadIdx.x, at = blockIdx.x * 1024;
    for (int k = t; k < 1024; k += blockDim.x) s[__brev(k) >> 22] = data[at + k];
    for (int len = 2; len <= 1024; len *= 2) {
        __syncthreads();
        int half = len / 2, pos = t % half, base = (t / half) * len + pos;
        float sn, cs; __sincosf(-6.2831853f * pos / len, &sn, &cs);
        float2 u = s[base], v = s[base + half], w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
        s[base] = make_float2(u.x + w.x, u.y + w.y); s[base + half] = make_float2(u.x - w.x, u.y - w.y);
    }
    __syncthreads();
    for (int k = t; k < 1024; k += blockDim.x) data[at + k] = s[k];
}
__global__ void dct_8x8(const float *in, float *out, int w) {
    __shared__ float s[8][8];
    int x = threadIdx.x, y = threadIdx.y, c = (blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x;
    s[y][x] = in[c];
    __syncthreads();
    float t = 0;
    for (int v = 0; v < 8; v++)
        for (int u = 0; u < 8; u++) t += s[v][u] * __cosf((2 * v + 1) * y * 0.19635f) * __cosf((2 * u + 1) * x * 0.19635f);
    out[c] = t;
}
