// Whole algorithms, written the ordinary way.
#include <cuda_fp16.h>
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;
#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL scan_shuffle(const int* a, int* o, int* sums) {
    __shared__ int warps[32];
    int i = THREAD, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, v = a[i];
    for (int d = 1; d < 32; d <<= 1) { int u = __shfl_up_sync(FULL, v, d); if (lane >= d) v += u; }
    if (lane == 31) warps[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int w = lane < blockDim.x / 32 ? warps[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) { int u = __shfl_up_sync(FULL, w, d); if (lane >= d) w += u; }
        warps[lane] = w;
    }
    __syncthreads();
    if (warp) v += warps[warp - 1];
    o[i] = v;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v;
}

KERNEL scan_blelloch(const float* a, float* o) {
    extern __shared__ int words[];
    float* s = (float*)words;
    int t = threadIdx.x, n = 2 * blockDim.x, offset = 1, base = blockIdx.x * n;
    s[2 * t] = a[base + 2 * t]; s[2 * t + 1] = a[base + 2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1, offset <<= 1) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) { int p = offset * (2 * t + 1) - 1, q = offset * (2 * t + 2) - 1; float v = s[p]; s[p] = s[q]; s[q] += v; }
    }
    __syncthreads();
    o[base + 2 * t] = s[2 * t]; o[base + 2 * t + 1] = s[2 * t + 1];
}

template <typename T> __device__ void transpose(const T* a, T* o, int w, int h) {
    __shared__ T tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) o[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
KERNEL transpose_u8(const u8* a, u8* o, int w, int h) { transpose(a, o, w, h); }
KERNEL transpose_f64(const double* a, double* o, int w, int h) { transpose(a, o, w, h); }

KERNEL histogram_shared(const u8* a, u32* h, int n) {
    __shared__ u32 bins[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    const uchar4* v = (const uchar4*)a;
    for (int i = THREAD; i < n / 4; i += gridDim.x * blockDim.x) {
        uchar4 c = v[i];
        atomicAdd(&bins[c.x], 1); atomicAdd(&bins[c.y], 1); atomicAdd(&bins[c.z], 1); atomicAdd(&bins[c.w], 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) if (bins[k]) atomicAdd(&h[k], bins[k]);
}

KERNEL histogram_match(const u8* a, u32* h, int n) {
    int i = THREAD;
    if (i >= n) return;
    u32 same = __match_any_sync(__activemask(), a[i]);
    if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&h[a[i]], __popc(same));
}

template <typename T, int B> __device__ void matmul(const T* a, const T* b, T* c, int n) {
    __shared__ T s[B][B], t[B][B + 1];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * B + y, column = blockIdx.x * B + x;
    T sum = T(0);
    for (int m = 0; m < n; m += B) {
        s[y][x] = row < n && m + x < n ? a[row * n + m + x] : T(0);
        t[y][x] = column < n && m + y < n ? b[(m + y) * n + column] : T(0);
        __syncthreads();
        for (int k = 0; k < B; k++) sum += s[y][k] * t[k][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
KERNEL matmul_i32(const int* a, const int* b, int* c, int n) { matmul<int, 16>(a, b, c, n); }
KERNEL matmul_f32(const float* a, const float* b, float* c, int n) { matmul<float, 16>(a, b, c, n); }
KERNEL matmul_f64(const double* a, const double* b, double* c, int n) { matmul<double, 8>(a, b, c, n); }
KERNEL matmul_f16(const __half* a, const __half* b, __half* c, int n) { matmul<__half, 16>(a, b, c, n); }
KERNEL matmul_i64(const long long* a, const long long* b, long long* c, int n) { matmul<long long, 8>(a, b, c, n); }

KERNEL bitonic_sort(int* a) {
    extern __shared__ int words[];
    int* s = words;
    int t = threadIdx.x;
    s[t] = a[THREAD];
    for (int k = 2; k <= blockDim.x; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            int x = t ^ j;
            if (x > t && ((s[t] > s[x]) == ((t & k) == 0))) { int v = s[t]; s[t] = s[x]; s[x] = v; }
        }
    __syncthreads();
    a[THREAD] = s[t];
}

KERNEL radix_sort(u32* a) {
    __shared__ u32 s[256], zeros[8];
    int t = threadIdx.x, warp = t >> 5, lane = t & 31;
    u32 v = a[THREAD];
    for (int bit = 0; bit < 32; bit++) {
        u32 ballot = __ballot_sync(FULL, !(v >> bit & 1));
        if (lane == 0) zeros[warp] = __popc(ballot);
        __syncthreads();
        u32 before = 0, all = 0;
        for (int w = 0; w < 8; w++) { before += w < warp ? zeros[w] : 0; all += zeros[w]; }
        u32 zero = before + __popc(ballot & ((1u << lane) - 1));
        s[v >> bit & 1 ? all + t - zero : zero] = v;
        __syncthreads();
        v = s[t];
        __syncthreads();
    }
    a[THREAD] = v;
}

KERNEL merge_path(const int* a, const int* b, int* o, int n) {
    int k = THREAD;
    if (k >= 2 * n) return;
    int low = max(0, k - n), high = min(k, n);
    while (low < high) { int m = (low + high) / 2; if (a[m] <= b[k - 1 - m]) low = m + 1; else high = m; }
    int j = k - low;
    o[k] = low < n && (j >= n || a[low] <= b[j]) ? a[low] : b[j];
}

KERNEL mandelbrot(u8* o, int w, int h, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float cr = x * 3.0f / w - 2, ci = y * 2.0f / h - 1, zr = 0, zi = 0;
    int k = 0;
    while (k < most && zr * zr + zi * zi < 4) { float t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; k++; }
    o[y * w + x] = k;
}

KERNEL julia_f64(int* o, int w, int h, double cr, double ci) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    double zr = x * 3.0 / w - 1.5, zi = y * 3.0 / h - 1.5;
    int k = 0;
    for (; k < 64; k++) { double t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; if (zr * zr + zi * zi > 4) break; }
    o[y * w + x] = k;
}

KERNEL nbody(const float4* p, float3* o, int n) {
    __shared__ float4 tile[64];
    int i = THREAD;
    float4 me = p[i];
    float3 f = make_float3(0, 0, 0);
    for (int m = 0; m < n; m += 64) {
        tile[threadIdx.x] = p[m + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 64; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r = dx * dx + dy * dy + dz * dz + 0.01f, q = tile[k].w / (r * sqrtf(r));
            f.x += q * dx; f.y += q * dy; f.z += q * dz;
        }
        __syncthreads();
    }
    o[i] = f;
}

KERNEL stencil_2d(const float* a, float* o, int w, int h) {
    __shared__ float s[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int dy = threadIdx.y; dy < 10; dy += 8)
        for (int dx = threadIdx.x; dx < 34; dx += 32) {
            int u = min(max(int(blockIdx.x) * 32 + dx - 1, 0), w - 1), v = min(max(int(blockIdx.y) * 8 + dy - 1, 0), h - 1);
            s[dy][dx] = a[v * w + u];
        }
    __syncthreads();
    if (x < w && y < h) {
        int p = threadIdx.x + 1, q = threadIdx.y + 1;
        o[y * w + x] = 0.5f * s[q][p] + 0.125f * (s[q][p - 1] + s[q][p + 1] + s[q - 1][p] + s[q + 1][p]);
    }
}

KERNEL stencil_3d(const double* a, double* o, int n) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    int at = (z * n + y) * n + x;
    bool inside = x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1;
    o[at] = inside ? (a[at - 1] + a[at + 1] + a[at - n] + a[at + n] + a[at - n * n] + a[at + n * n]) / 6 - a[at] : 0;
}

__constant__ float filter[7] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};
KERNEL convolution(const float* a, float* o, int n) {
    int i = THREAD;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < 7; k++) { int j = i + k - 3; if (j >= 0 && j < n) sum += filter[k] * a[j]; }
    o[i] = sum * filter[i % 7];
}

KERNEL spmv_csr(const int* rows, const int* columns, const double* values, const double* x, double* y, int n) {
    int row = THREAD / 8, lane = threadIdx.x & 7;
    double sum = 0;
    if (row < n) for (int k = rows[row] + lane; k < rows[row + 1]; k += 8) sum += values[k] * x[columns[k]];
    for (int d = 4; d > 0; d >>= 1) sum += __shfl_down_sync(FULL, sum, d, 8);
    if (row < n && lane == 0) y[row] = sum;
}

KERNEL bfs_frontier(const int* rows, const int* edges, int* distance, int* next, int* count, int level, int n) {
    int v = THREAD;
    if (v >= n || distance[v] != level) return;
    for (int k = rows[v]; k < rows[v + 1]; k++) {
        int w = edges[k];
        if (atomicCAS(&distance[w], -1, level + 1) == -1) next[w] = atomicAdd(count, 1) >= 0;
    }
}

KERNEL life(const u8* a, u8* o, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) if (dx || dy) sum += a[(y + dy + h) % h * w + (x + dx + w) % w];
    o[y * w + x] = sum == 3 || (sum == 2 && a[y * w + x]);
}

KERNEL fft_256(float2* a) {
    __shared__ float2 s[256];
    int t = threadIdx.x;
    s[__brev(t) >> 24] = a[blockIdx.x * 256 + t];
    s[__brev(t + 128) >> 24] = a[blockIdx.x * 256 + t + 128];
    for (int half = 1; half < 256; half <<= 1) {
        __syncthreads();
        int k = t & (half - 1), p = 2 * (t - k) + k, q = p + half;
        float sine, cosine;
        sincospif(-(float)k / half, &sine, &cosine);
        float2 u = s[p], v = s[q], w = make_float2(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
        s[p] = make_float2(u.x + w.x, u.y + w.y);
        s[q] = make_float2(u.x - w.x, u.y - w.y);
    }
    __syncthreads();
    a[blockIdx.x * 256 + t] = s[t];
    a[blockIdx.x * 256 + t + 128] = s[t + 128];
}

__device__ __forceinline__ u32 rotate(u32 x, int k) { return __funnelshift_r(x, x, k); }
__constant__ u32 sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
KERNEL sha256(const u8* text, u32* o) {  // one 32-byte message a thread
    u32 w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const u32* words = (const u32*)(text + 32 * THREAD);
    for (int k = 0; k < 16; k++) w[k] = k < 8 ? __byte_perm(words[k], 0, 0x0123) : k == 8 ? 0x80000000 : k == 15 ? 256 : 0;
    u32 a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], z = h[7];
#pragma unroll 16
    for (int k = 0; k < 64; k++) {
        if (k >= 16) {
            u32 x = w[(k + 1) & 15], y = w[(k + 14) & 15];
            w[k & 15] += w[(k + 9) & 15] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
        }
        u32 p = z + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + sha_k[k] + w[k & 15];
        u32 q = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        z = g; g = f; f = e; e = d + p; d = c; c = b; b = a; a = p + q;
    }
    u32 last[8] = {a, b, c, d, e, f, g, z};
    for (int k = 0; k < 8; k++) o[8 * THREAD + k] = h[k] + last[k];
}

KERNEL crc32(const u8* a, u32* o, int bytes) {
    __shared__ u32 table[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        u32 c = k;
        for (int j = 0; j < 8; j++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[k] = c;
    }
    __syncthreads();
    u32 c = ~0u;
    for (int k = 0; k < bytes; k++) c = table[(c ^ a[THREAD * bytes + k]) & 255] ^ c >> 8;
    o[THREAD] = ~c;
}

KERNEL modular_power(const u64* base, const u64* exponent, u64* o, u64 modulus) {
    u64 b = base[THREAD] % modulus, e = exponent[THREAD] & 0xffff, r = 1;
    while (e) { if (e & 1) r = r * b % modulus; b = b * b % modulus; e >>= 1; }
    o[THREAD] = r;
}

KERNEL gcd(const int* a, const int* b, int* o) {
    int x = abs(a[THREAD]), y = abs(b[THREAD]);
    while (y) { int r = x % y; x = y; y = r; }
    o[THREAD] = x;
}

KERNEL philox(u32* o, u32 seed) {
    u32 c0 = THREAD, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = 0;
    for (int r = 0; r < 10; r++) {
        u32 h0 = __umulhi(0xd2511f53, c0), l0 = 0xd2511f53 * c0, h1 = __umulhi(0xcd9e8d57, c2), l1 = 0xcd9e8d57 * c2;
        c0 = h1 ^ c1 ^ k0; c1 = l1; c2 = h0 ^ c3 ^ k1; c3 = l0;
        k0 += 0x9e3779b9; k1 += 0xbb67ae85;
    }
    ((uint4*)o)[THREAD] = make_uint4(c0, c1, c2, c3);
}

KERNEL monte_carlo(u32* inside, int trials) {
    u64 s = THREAD * 0x9e3779b97f4a7c15ull + 1;
    u32 count = 0;
    for (int k = 0; k < trials; k++) {
        s ^= s << 13; s ^= s >> 7; s ^= s << 17;
        float x = (u32)s * 2.3283064e-10f, y = (u32)(s >> 32) * 2.3283064e-10f;
        count += x * x + y * y <= 1;
    }
    atomicAdd(inside, count);
}

KERNEL hash_insert(const u32* keys, u32* table, u32* slots, int n, u32 mask) {
    int i = THREAD;
    if (i >= n) return;
    u32 key = keys[i], h = (key * 2654435761u) & mask;
    while (true) {
        u32 old = atomicCAS(&table[h], 0xffffffffu, key);
        if (old == 0xffffffffu || old == key) break;
        h = (h + 1) & mask;
    }
    slots[i] = table[h];
}

KERNEL levenshtein(const u8* a, const u8* b, int* o, int n) {
    u8 row[33];
    a += THREAD * n; b += THREAD * n;
    for (int k = 0; k <= n; k++) row[k] = k;
    for (int i = 0; i < n; i++) {
        u8 diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            u8 v = min(min(row[j], row[j + 1]) + 1, diagonal + (a[i] != b[j]));
            diagonal = row[j + 1];
            row[j + 1] = v;
        }
    }
    o[THREAD] = row[n];
}

KERNEL quicksort(int* a, int n) {  // each thread its own array, with its own stack
    int* v = a + THREAD * n;
    int stack[32], top = 0;
    stack[top++] = 0; stack[top++] = n - 1;
    while (top) {
        int high = stack[--top], low = stack[--top];
        if (low >= high) continue;
        int pivot = v[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i <= j) { int t = v[i]; v[i++] = v[j]; v[j--] = t; }
        }
        if (j - low < high - i) { stack[top++] = i; stack[top++] = high; stack[top++] = low; stack[top++] = j; }
        else { stack[top++] = low; stack[top++] = j; stack[top++] = i; stack[top++] = high; }
    }
}

KERNEL queens(int* o, int n) {  // backtracking with bit masks; the first two rows by thread
    int t = THREAD, c0 = t / n, c1 = t % n;
    int count = 0;
    if (c0 < n && c0 != c1 && abs(c0 - c1) != 1) {
        u32 columns[12], left[12], right[12], free[12], all = (1u << n) - 1;
        int row = 2;
        columns[2] = 1u << c0 | 1u << c1; left[2] = (1u << c0 << 2 | 1u << c1 << 1) & all; right[2] = 1u << c0 >> 2 | 1u << c1 >> 1;
        free[2] = all & ~(columns[2] | left[2] | right[2]);
        while (row >= 2) {
            if (!free[row]) { row--; continue; }
            u32 bit = free[row] & -free[row];
            free[row] ^= bit;
            if (row == n - 1) { count++; continue; }
            columns[row + 1] = columns[row] | bit; left[row + 1] = (left[row] | bit) << 1 & all; right[row + 1] = (right[row] | bit) >> 1;
            row++;
            free[row] = all & ~(columns[row] | left[row] | right[row]);
        }
    }
    o[t] = count;
}

KERNEL softmax(const float* a, float* o, int n) {  // one row a block
    __shared__ float s[8];
    float m = -INFINITY, sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) m = fmaxf(m, a[blockIdx.x * n + k]);
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(FULL, m, d));
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = m;
    __syncthreads();
    for (int w = 0; w < blockDim.x >> 5; w++) m = fmaxf(m, s[w]);
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += expf(a[blockIdx.x * n + k] - m);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(FULL, sum, d);
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < blockDim.x >> 5; w++) sum += s[w];
    for (int k = threadIdx.x; k < n; k += blockDim.x) o[blockIdx.x * n + k] = expf(a[blockIdx.x * n + k] - m) / sum;
}

KERNEL black_scholes(const float* price, const float* strike, const float* years, float* call, float* put, float rate, float volatility) {
    int i = THREAD;
    float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root), d2 = d1 - volatility * root;
    float e = expf(-rate * t), n1 = normcdff(d1), n2 = normcdff(d2);
    call[i] = s * n1 - x * e * n2;
    put[i] = x * e * (1 - n2) - s * (1 - n1);
}

KERNEL floyd_warshall(int* d, int n) {  // one block
    for (int k = 0; k < n; k++) {
        for (int at = threadIdx.x; at < n * n; at += blockDim.x) d[at] = min(d[at], d[at / n * n + k] + d[k * n + at % n]);
        __syncthreads();
    }
}

KERNEL lu_decomposition(double* a, int n) {  // one block, in place, no pivoting
    for (int k = 0; k < n - 1; k++) {
        for (int i = k + 1 + threadIdx.x; i < n && threadIdx.y == 0; i += blockDim.x) a[i * n + k] /= a[k * n + k];
        __syncthreads();
        for (int i = k + 1 + threadIdx.y; i < n; i += blockDim.y)
            for (int j = k + 1 + threadIdx.x; j < n; j += blockDim.x) a[i * n + j] -= a[i * n + k] * a[k * n + j];
        __syncthreads();
    }
}

KERNEL compaction(const int* a, int* o, int* count, int n) {
    int i = THREAD;
    bool keep = i < n && a[i] % 3 == 0;
    u32 votes = __ballot_sync(FULL, keep);
    int lane = threadIdx.x & 31, base = 0;
    if (lane == 0 && votes) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(FULL, base, 0);
    if (keep) o[base + __popc(votes & ((1u << lane) - 1))] = a[i];
}

KERNEL big_sum(const u32* a, const u32* b, u32* o) {  // 256-bit integers, eight words a thread
    const uint4 *p = (const uint4*)a + 2 * THREAD, *q = (const uint4*)b + 2 * THREAD;
    uint4 x = p[0], y = p[1], u = q[0], v = q[1];
    asm("add.cc.u32 %0, %0, %8;\n\taddc.cc.u32 %1, %1, %9;\n\taddc.cc.u32 %2, %2, %10;\n\taddc.cc.u32 %3, %3, %11;\n\t"
        "addc.cc.u32 %4, %4, %12;\n\taddc.cc.u32 %5, %5, %13;\n\taddc.cc.u32 %6, %6, %14;\n\taddc.u32 %7, %7, %15;"
        : "+r"(x.x), "+r"(x.y), "+r"(x.z), "+r"(x.w), "+r"(y.x), "+r"(y.y), "+r"(y.z), "+r"(y.w)
        : "r"(u.x), "r"(u.y), "r"(u.z), "r"(u.w), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
    ((uint4*)o)[2 * THREAD] = x;
    ((uint4*)o)[2 * THREAD + 1] = y;
}

KERNEL rgb_to_gray(const uchar3* a, u8* o, int n) {
    int i = THREAD;
    if (i < n) { uchar3 c = a[i]; o[i] = (u8)(0.299f * c.x + 0.587f * c.y + 0.114f * c.z); }
}

KERNEL bilinear(const u8* a, u8* o, int w, int h, int ow, int oh) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= ow || y >= oh) return;
    float u = x * (float)(w - 1) / (ow - 1), v = y * (float)(h - 1) / (oh - 1);
    int p = (int)u, q = (int)v, p1 = min(p + 1, w - 1), q1 = min(q + 1, h - 1);
    float f = u - p, g = v - q;
    float top = a[q * w + p] * (1 - f) + a[q * w + p1] * f, bottom = a[q1 * w + p] * (1 - f) + a[q1 * w + p1] * f;
    o[y * ow + x] = (u8)__float2uint_rn(top * (1 - g) + bottom * g);
}

KERNEL string_search(const char* text, const char* word, int* hits, int n, int m) {
    int i = THREAD;
    if (i > n - m) return;
    int k = 0;
    while (k < m && text[i + k] == word[k]) k++;
    hits[i] = k == m;
}

KERNEL collatz(const u32* a, u32* o) {
    u64 v = a[THREAD];
    u32 steps = 0;
    while (v > 1) { v = v & 1 ? 3 * v + 1 : v >> 1; steps++; }
    o[THREAD] = steps;
}

KERNEL kmeans_assign(const float2* p, const float2* c, int* o, int k) {
    float2 v = p[THREAD];
    float best = 3.4e38f;
    int which = -1;
    for (int j = 0; j < k; j++) { float dx = v.x - c[j].x, dy = v.y - c[j].y, d = dx * dx + dy * dy; if (d < best) { best = d; which = j; } }
    o[THREAD] = which;
}
