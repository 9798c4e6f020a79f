// Kernels of kinds that users write and that the other files do not have: byte dot products, packed halves, asynchronous
// copies, tiles of a warp, vector and 64-bit atomics, producers and consumers, trees, recursion, parsers, big numbers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
typedef unsigned u32;
typedef unsigned long long u64;
#define KERNEL extern "C" __global__ void

// y = A x, bytes, a warp per row of 256.
KERNEL gemv_int8(const int *a, const int *x, int *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    int total = 0;
    for (int k = lane; k < 64; k += 32) total = __dp4a(a[row * 64 + k], x[k], total);
    for (int d = 16; d; d >>= 1) total += __shfl_xor_sync(~0u, total, d);
    if (lane == 0) y[row] = total;
}

// Dot products of halves: packed multiply-adds, then a tree over the block.
KERNEL half2_dot(const __half2 *a, const __half2 *b, float *out, int n) {
    __shared__ float s[32];
    __half2 v = __float2half2_rn(0.f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v = __hfma2(a[i], b[i], v);
    float t = __low2float(v) + __high2float(v);
    for (int d = 16; d; d >>= 1) t += __shfl_down_sync(~0u, t, d);
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = t;
    __syncthreads();
    if (threadIdx.x < 32) {
        t = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0.f;
        for (int d = 16; d; d >>= 1) t += __shfl_down_sync(~0u, t, d);
        if (threadIdx.x == 0) out[blockIdx.x] = t;
    }
}

// Two tiles in flight through shared memory.
KERNEL async_tiles(const int4 *in, int *out, int tiles) {
    __shared__ int4 s[2][64];
    __shared__ int words[64];
    int t = threadIdx.x, total = 0;
    __pipeline_memcpy_async(&s[0][t], &in[blockIdx.x * tiles * 64 + t], 16);
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&s[(k + 1) & 1][t], &in[(blockIdx.x * tiles + k + 1) * 64 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        int4 v = s[k & 1][(t * 5) & 63];
        total += v.x + 3 * v.y - v.z + (v.w ^ k);
        __syncthreads();
    }
    __pipeline_memcpy_async(&words[t ^ 9], (const int *)in + t * 3, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[blockIdx.x * 64 + t] = total + words[t];
}

// Sums of tiles of 4, 8 and 16 lanes, and of those lanes that hold an odd number.
KERNEL tile_sums(const int *x, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
    auto block = cg::this_thread_block();
    auto t4 = cg::tiled_partition<4>(block);
    auto t8 = cg::tiled_partition<8>(block);
    auto t16 = cg::tiled_partition<16>(block);
    int a = cg::reduce(t4, v, cg::plus<int>()), b = cg::reduce(t8, v, cg::greater<int>());
    int c = t16.shfl_up(v, 3) + (t16.any(v > 90) ? 1000 : 0);
    int d = 0;
    if (v & 1) {
        auto odd = cg::coalesced_threads();
        d = odd.thread_rank() * 100 + odd.size();
    }
    out[i] = a + 7 * b + 11 * c + 13 * d;
}

// Vectors of floats added to a few places, without and with the old value.
KERNEL vector_atomics(const float4 *x, float4 *sums, float2 *pairs, float4 *old) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = x[i];
    atomicAdd(&sums[i % 3], v);
    atomicAdd(&pairs[(i >> 1) & 7], make_float2(v.x, v.y));
    old[i] = atomicAdd(&old[i], make_float4(v.w, v.z, v.y, v.x));
}

// 64-bit atomics and compare-and-swap on places of a thread's own, shared by few lanes.
KERNEL atomics_64(const u64 *x, u64 *places, double *reals, int *bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 v = x[i];
    atomicMax(&places[v & 3], v);
    atomicMin(&places[4 + (v & 7)], v);
    atomicAdd(&places[12 + i % 6], v >> 40);
    atomicXor(&places[18], v);
    atomicAdd(&reals[i & 1], (double)(v & 255));
    u64 seen = atomicCAS(&places[32 + i], 0ull, v);
    if (v & 1) atomicExch(&places[32 + i], seen + 5);
    atomicOr(&bits[(v >> 8) & 31], 1 << (v & 31));
    atomicAnd(&bits[32 + (i & 3)], ~(int)(v & 1023));
    atomicInc((u32 *)&bits[40 + (i & 1)], 77);
}

// Half of the block produces, the other half consumes, with named barriers.
KERNEL producers(const int *x, int *out, int rounds) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x & 63;
    if (threadIdx.x < 64) {
        for (int k = 0; k < rounds; k++) {
            if (k >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + (k & 1)));
            buffer[k & 1][t] = x[(k * 64 + t) & 255] * (k + 1);
            asm volatile("bar.arrive %0, 128;" ::"r"(1 + (k & 1)));
        }
    } else {
        int total = 0;
        for (int k = 0; k < rounds; k++) {
            asm volatile("bar.sync %0, 128;" ::"r"(1 + (k & 1)));
            total += buffer[k & 1][63 - t];
            if (k + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(3 + (k & 1)));
        }
        out[blockIdx.x * 64 + t] = total;
    }
}

// Nearest of 64 points by a tree in an array, with a stack in local memory.
KERNEL tree_search(const float2 *nodes, const float2 *queries, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 q = queries[i];
    int stack[16], top = 0, who = -1;
    float best = 1e9f;
    stack[top++] = 1;
    while (top) {
        int n = stack[--top];
        if (n > 63) continue;
        float2 p = nodes[n];
        float dx = q.x - p.x, dy = q.y - p.y, d = dx * dx + dy * dy;
        if (d < best) best = d, who = n;
        int level = 31 - __clz(n);
        float side = level & 1 ? dy : dx;
        int near = 2 * n + (side > 0), far = near ^ 1;
        if (side * side < best) stack[top++] = far;
        stack[top++] = near;
    }
    out[i] = who;
}

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    int inner = ackermann(m, n - 1);
    return ackermann(m - 1, inner);
}

// Recursion, different in every lane.
KERNEL recurse(const int *m, const int *n, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = ackermann(m[i], n[i]);
}

struct Shape {
    float a, b;
    __device__ virtual float area() const = 0;
};
struct Box : Shape {
    __device__ float area() const override { return a * b; }
};
struct Disc : Shape {
    __device__ float area() const override { return 3.14159265f * a * a; }
};
struct Ring : Shape {
    __device__ float area() const override { float s = 0; for (int k = 1; k <= (int)b; k++) s += a / k; return s; }
};

// Virtual functions of three classes.
KERNEL shapes(const int *kind, const float *a, const float *b, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Box box; Disc disc; Ring ring;
    Shape *s = kind[i] == 0 ? (Shape *)&box : kind[i] == 1 ? (Shape *)&disc : (Shape *)&ring;
    s->a = a[i];
    s->b = b[i];
    out[i] = s->area();
}

// A parser of sums and products of digits with brackets, a state machine per thread.
KERNEL parse(const char *text, int *out, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const char *p = text + i * length;
    int values[8], top = 0, total = 0, product = 1, depth[8];
    for (int k = 0; k < length; k++) {
        char c = p[k];
        switch (c) {
        case '+': total += product; product = 1; break;
        case '*': break;
        case '(':
            if (top == 8) { out[i] = -1; return; }
            values[top] = total; depth[top++] = product; total = 0; product = 1;
            break;
        case ')': {
            if (top == 0) { out[i] = -2; return; }
            int inner = total + product;
            total = values[--top];
            product = depth[top] * inner;
            break;
        }
        case '.': goto end;
        default: product *= c - '0';
        }
    }
end:
    out[i] = top ? -3 : total + product;
}

// Montgomery products of 128-bit numbers.
KERNEL montgomery(const u32 *x, u32 *out, u32 m0, u32 m1, u32 m2, u32 m3, u32 inverse) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 m[4] = {m0, m1, m2, m3}, t[6] = {0, 0, 0, 0, 0, 0};
    for (int j = 0; j < 4; j++) {
        u64 carry = 0;
        for (int k = 0; k < 4; k++) { carry += (u64)x[i * 4 + k] * x[i * 4 + j] + t[k]; t[k] = (u32)carry; carry >>= 32; }
        carry += t[4]; t[4] = (u32)carry; t[5] = (u32)(carry >> 32);
        u32 q = t[0] * inverse;
        carry = ((u64)q * m[0] + t[0]) >> 32;
        for (int k = 1; k < 4; k++) { carry += (u64)q * m[k] + t[k]; t[k - 1] = (u32)carry; carry >>= 32; }
        carry += t[4]; t[3] = (u32)carry; t[4] = t[5] + (u32)(carry >> 32);
    }
    bool less = t[4] == 0;
    if (less) {
        for (int k = 3; k >= 0; k--) {
            if (t[k] != m[k]) { less = t[k] < m[k]; break; }
            if (k == 0) less = false;
        }
    }
    u64 borrow = 0;
    for (int k = 0; k < 4; k++) {
        u64 d = (u64)t[k] - (less ? 0 : m[k]) - borrow;
        out[i * 4 + k] = (u32)d;
        borrow = d >> 63;
    }
}

// Runs of equal bytes, written by the lanes that start one: ballots and counts before a lane.
KERNEL run_lengths(const unsigned char *x, int *starts, int *lengths, int *count) {
    int lane = threadIdx.x, n = 0;
    for (int base = 0; base < 256; base += 32) {
        int i = base + lane;
        bool head = i == 0 || x[i] != x[i - 1];
        u32 heads = __ballot_sync(~0u, head);
        if (head) {
            int place = n + __popc(heads & ((1u << lane) - 1));
            starts[place] = i;
            int k = i + 1;
            while (k < 256 && x[k] == x[i]) k++;
            lengths[place] = k - i;
        }
        n += __popc(heads);
    }
    if (lane == 0) *count = n;
}

// Lanes wait at __syncwarp of their own halves, inside of a branch.
KERNEL halves(const int *x, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, lane = t & 31;
    s[t] = x[blockIdx.x * 64 + t];
    __syncwarp();
    if (lane < 16) {
        for (int k = 0; k < (lane >> 2) + 1; k++) s[t] += k * s[t ^ 1] & 15;
        __syncwarp(0x0000ffff);
        s[t] += s[t ^ 8];
        __syncwarp(0x0000ffff);
    } else {
        int v = __shfl_sync(0xffff0000, s[t], 16 + (lane & 3));
        __syncwarp(0xffff0000);
        s[t] = v * 3;
    }
    __syncwarp();
    out[blockIdx.x * 64 + t] = s[t ^ 31];
}

// Lanes that share an address: as many of each as *share* says; the operation by *which*.
KERNEL meet(const int *place, int *out, int which) {
    int p = place[blockIdx.x * blockDim.x + threadIdx.x];
    if (p < 0) return;
    switch (which) {
    case 0: atomicAdd(&out[p], 1); break;
    case 1: out[4096 + threadIdx.x] = atomicAdd(&out[p], (int)threadIdx.x); break;
    case 2: atomicAdd((u64 *)out + p, (u64)threadIdx.x); break;
    case 3: atomicAdd((float *)out + p, 1.f); break;
    case 4: atomicAdd((double *)out + p, 1.); break;
    case 5: atomicExch(&out[p], (int)threadIdx.x); break;
    case 6: out[4096 + threadIdx.x] = atomicCAS(&out[p], 0, (int)threadIdx.x); break;
    case 7: atomicAdd((float2 *)out + p, make_float2(1, 2)); break;
    case 8: atomicAdd((float4 *)out + p, make_float4(1, 2, 3, 4)); break;
    case 9: atomicMax(&out[p], (int)threadIdx.x); break;
    case 10: out[4096 + threadIdx.x] = atomicAdd((u64 *)out + p, (u64)threadIdx.x); break;
    case 11: atomicAdd((__half2 *)out + p, __floats2half2_rn(1, 2)); break;
    case 12: atomicOr(&out[p], 1 << (threadIdx.x & 31)); break;
    }
}
KERNEL meet_f4(const int *place, float4 *out, float4 *old) {
    int p = place[threadIdx.x];
    if (p >= 0) old[threadIdx.x] = atomicAdd(&out[p], make_float4(1, 2, 3, 4));
}
KERNEL copy_shared(const int *in, int *out, int stride) {
    __shared__ int s[4096];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t * stride], &in[t], 4);
    __pipeline_memcpy_async(&s[2048 + ((t * 2 * stride) & 2046)], &in[2 * t], 8);
    __pipeline_memcpy_async(&s[1024 + ((t * 4 * stride) & 1020)], &in[4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t] + s[2048 + t] + s[1024 + t];
}
