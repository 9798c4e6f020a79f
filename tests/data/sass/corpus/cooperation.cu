// Warps, barriers, atomics, memory spaces and control flow.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define PUT(value) o[section++ * n + i] = (value)
#define INDEX int i = THREAD, section = 0, n = gridDim.x * blockDim.x, lane = threadIdx.x & 31

KERNEL warp_votes(const int* a, u32* o) {
    INDEX;
    int x = a[i], p;
    PUT(__ballot_sync(FULL, x & 1)); PUT(__any_sync(FULL, x > 250)); PUT(__all_sync(FULL, x >= 0)); PUT(__activemask());
    PUT(__match_any_sync(FULL, x & 7)); PUT(__match_all_sync(FULL, x >> 8, &p)); PUT(p); PUT(__match_any_sync(FULL, (u64)x << 40 & 3ull << 40));
    if (x & 2) { u32 m = __activemask(); PUT(__ballot_sync(m, x & 4)); PUT(__popc(m)); __syncwarp(m); PUT(__any_sync(m, x > 200)); }
    else section += 3;
    __syncwarp();
    PUT(__uni_sync(FULL, x >> 9)); PUT(__syncthreads_count(x & 1)); PUT(__syncthreads_and(x < 300)); PUT(__syncthreads_or(x == 3));
#if __CUDA_ARCH__ >= 800
    PUT(__reduce_add_sync(FULL, x)); PUT(__reduce_min_sync(FULL, x - 100)); PUT(__reduce_max_sync(FULL, (u32)x)); PUT(__reduce_and_sync(FULL, (u32)x | 1)); PUT(__reduce_or_sync(FULL, (u32)x)); PUT(__reduce_xor_sync(FULL, (u32)x));
    if (x & 1) PUT(__reduce_add_sync(__activemask(), x)); else section++;
#endif
}

KERNEL warp_shuffles(const int* a, int* o) {
    INDEX;
    int x = a[i];
    float f = x * 0.25f;
    double d = x * 1.5;
    s64 l = (s64)x << 33 | i;
    PUT(__shfl_sync(FULL, x, 5)); PUT(__shfl_sync(FULL, x, x)); PUT(__shfl_sync(FULL, x, x, 8)); PUT(__shfl_up_sync(FULL, x, 3)); PUT(__shfl_up_sync(FULL, x, 2, 16)); PUT(__shfl_down_sync(FULL, x, 7)); PUT(__shfl_down_sync(FULL, x, x & 3, 4));
    PUT(__shfl_xor_sync(FULL, x, 17)); PUT(__shfl_xor_sync(FULL, x, 3, 8)); PUT(4 * __shfl_sync(FULL, f, lane ^ 9)); PUT(2 * __shfl_xor_sync(FULL, d, 4)); PUT(__shfl_down_sync(FULL, l, 1) >> 33); PUT(__shfl_up_sync(FULL, l, 9));
    PUT(__half2int_rn(__shfl_xor_sync(FULL, __int2half_rn(x), 2)));
    for (int k = 16; k > 0; k >>= 1) x += __shfl_xor_sync(FULL, x, k);
    PUT(x);
}

KERNEL special_registers(u32* o, int n) {
    int section = 0, i = ((blockIdx.y * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    u32 r;
#define READ(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(r)); PUT(r)
    READ("laneid"); READ("lanemask_lt"); READ("lanemask_le"); READ("lanemask_eq"); READ("lanemask_ge"); READ("lanemask_gt"); READ("tid.x"); READ("tid.y"); READ("tid.z"); READ("ntid.x"); READ("ntid.y"); READ("ntid.z");
    READ("ctaid.x"); READ("ctaid.y"); READ("ctaid.z"); READ("nctaid.x"); READ("nctaid.y"); READ("nctaid.z");
}

KERNEL clocks(s64* o) {  // results depend on the machine: only that time does not run backwards
    INDEX;
    u32 r;
    u64 w;
    clock_t t0 = clock();
    s64 t1 = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(w));
    __nanosleep(20);
    PUT(clock() - t0 >= 0); PUT(clock64() >= t1); PUT(w != 1);
    READ("smid"); READ("warpid"); READ("nwarpid"); READ("nsmid"); READ("gridid"); READ("clock_hi"); READ("globaltimer_lo");
}

KERNEL groups(const int* a, int* o) {
    INDEX;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    cg::thread_block_tile<4> four = cg::tiled_partition<4>(tile);
    int x = a[i];
    PUT(tile.shfl_down(x, 3)); PUT(four.ballot(x & 1)); PUT(four.meta_group_rank()); PUT(tile.any(x > 250)); PUT(tile.match_any(x & 3)); PUT(cg::reduce(tile, x, cg::plus<int>())); PUT(cg::reduce(four, x, cg::greater<int>())); PUT(cg::inclusive_scan(tile, x)); PUT(cg::exclusive_scan(four, x, cg::plus<int>()));
    if (x % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        PUT(active.thread_rank()); PUT(active.size()); PUT(active.shfl(x, 0)); PUT(active.shfl_up(x, 1)); PUT(cg::reduce(active, x, cg::plus<int>()));
        active.sync();
    } else section += 5;
    cg::coalesced_group odd = cg::labeled_partition(cg::tiled_partition<32>(block), x & 3);
    PUT(odd.thread_rank()); PUT(odd.size());
    block.sync();
    PUT(block.thread_rank()); PUT(block.group_index().x);
}

KERNEL named_barriers(const int* a, int* o) {  // two producer warps, two consumer warps
    __shared__ int s[64];
    int warp = threadIdx.x >> 5, t = threadIdx.x & 63;
    for (int round = 0; round < 3; round++) {
        if (warp < 2) {
            s[t] = a[THREAD] + round;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
            asm volatile("bar.sync 2, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            o[(round * gridDim.x + blockIdx.x) * 64 + t] = s[63 - t];
            asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
    int r, b = 3 + (warp & 1);
    asm volatile("bar.sync %0, 64;" :: "r"(b) : "memory");  // a barrier whose number is in a register
    asm volatile("barrier.sync.aligned 5, 128;" ::: "memory");
    asm volatile("{.reg .pred p, q;\n\tsetp.gt.s32 p, %1, 100;\n\tbar.red.popc.u32 %0, 6, 128, p;}" : "=r"(r) : "r"(a[THREAD]) : "memory");
    o[3 * gridDim.x * 64 + THREAD] = r;
    asm volatile("{.reg .pred p, q;\n\tsetp.gt.s32 p, %1, 100;\n\tbar.red.or.pred q, 7, p;\n\tselp.s32 %0, 1, 0, q;}" : "=r"(r) : "r"(a[THREAD]) : "memory");
    o[3 * gridDim.x * 64 + gridDim.x * 128 + THREAD] = r;
}

KERNEL atomics_global(const int* a, int* g, u32* u, u64* l, s64* s, float* f, double* d) {
    int i = THREAD, x = a[i];
    atomicAdd(g, x); atomicSub(g + 1, x); atomicMin(g + 2, x - 128); atomicMax(g + 3, x); atomicAnd(g + 4, x | 240); atomicOr(g + 5, x & 15); atomicXor(g + 6, x);
    atomicAdd(u, x); atomicMin(u + 1, x); atomicMax(u + 2, x); atomicInc(u + 3, 100); atomicDec(u + 4, 100); atomicAnd(u + 5, x | 3); atomicOr(u + 6, x); atomicXor(u + 7, x * 77);
    atomicAdd(l, (u64)x << 30); atomicMin(l + 1, (u64)x << 33); atomicMax(l + 2, (u64)x << 33); atomicAnd(l + 3, ~((u64)(x & 8) << 35)); atomicOr(l + 4, (u64)x << 34); atomicXor(l + 5, (u64)x << 36);
    atomicMin(s, (s64)x - 128 << 32); atomicMax(s + 1, (s64)x << 32);
    atomicAdd(f, x * 0.5f); atomicAdd(d, x * 0.5);
    atomicAdd_block(g + 7, 1); atomicAdd_system(g + 8, 2); atomicMax_system(u + 8, x); atomicCAS_system(g + 9, 0, 5);
}

KERNEL atomics_results(const int* a, int* g, u64* l, float* f, double* d, int* o) {  // one address a thread
    INDEX;
    int x = a[i];
    PUT(atomicAdd(g + i, x)); PUT(atomicSub(g + i, 3)); PUT(atomicExch(g + i, x ^ 5)); PUT(atomicMin(g + i, 90)); PUT(atomicMax(g + i, 20)); PUT(atomicInc((u32*)g + i, 80)); PUT(atomicDec((u32*)g + i, 100)); PUT(atomicAnd(g + i, 0x5f)); PUT(atomicOr(g + i, 0x11)); PUT(atomicXor(g + i, x)); PUT(atomicCAS(g + i, x, 7)); PUT(atomicCAS(g + i, g[i], x));
    PUT(atomicAdd(l + i, (u64)x << 32) >> 32); PUT(atomicExch(l + i, (u64)x << 31 | 1) >> 31); PUT(atomicMin(l + i, 100ull << 31) >> 31); PUT(atomicMax((s64*)l + i, -5ll) >> 31); PUT(atomicAnd(l + i, ~0ull << 20) >> 31); PUT(atomicOr(l + i, 3ull) & 3); PUT(atomicXor(l + i, 1ull << 40) >> 31); PUT(atomicCAS(l + i, l[i], 9ull) >> 31);
    PUT(4 * atomicAdd(f + i, x * 0.25f)); PUT(atomicExch(f + i, (float)x)); PUT(2 * atomicAdd(d + i, x * 0.5));
    PUT(atomicAdd_block(g + i, 2)); PUT(atomicCAS_block(g + i, x, 3)); PUT(atomicExch_system(g + i, 4)); PUT(atomicAdd_system(l + i, 1ull));
    PUT(atomicCAS((unsigned short*)(o + 40 * n + i), (unsigned short)0, (unsigned short)x));
}

KERNEL atomics_shared(const int* a, int* o) {
    __shared__ int s[64];
    __shared__ u64 l[8];
    __shared__ float f[4];
    __shared__ double d[2];
    INDEX;
    int x = a[i];
    if (threadIdx.x < 64) s[threadIdx.x] = threadIdx.x == 2 ? 1000 : 0;
    if (threadIdx.x < 8) l[threadIdx.x] = threadIdx.x == 1 ? ~0ull : 0;
    if (threadIdx.x < 4) f[threadIdx.x] = 0;
    if (threadIdx.x < 2) d[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(s, x); atomicSub(s + 1, x); atomicMin(s + 2, x); atomicMax(s + 3, x); atomicOr(s + 4, x); atomicXor(s + 5, x); atomicInc((u32*)s + 6, 77); atomicDec((u32*)s + 7, 55); atomicAnd(s + 8, x); atomicAdd(s + 10 + (x & 31), 1);
    atomicAdd(l, (u64)x << 20); atomicMin(l + 1, (u64)x << 21); atomicMax(l + 2, (u64)x << 22); atomicOr(l + 3, (u64)x << 23); atomicXor(l + 4, (u64)x << 24);
    atomicAdd(f, x * 0.5f); atomicAdd(d, x * 0.25);
    for (bool done = false; !done;)
        if (atomicCAS(s + 50, 0, 1) == 0) {
            ((volatile int*)s)[51] += x;
            __threadfence_block();
            atomicExch(s + 50, 0);
            done = true;
        }
    __syncthreads();
    int v = s[threadIdx.x & 63];
    PUT(v); PUT(threadIdx.x < 8 ? l[threadIdx.x] >> 20 : 0); PUT(threadIdx.x < 4 ? 2 * f[threadIdx.x] : 0); PUT(threadIdx.x < 2 ? 4 * d[threadIdx.x] : 0);
}

KERNEL atomics_packed(const int* a, __half2* h, __half* e, float* o) {
    int i = THREAD;
    float x = (a[i] & 7) * 0.5f;
    atomicAdd(h + (i & 3), __floats2half2_rn(x, 1.0f));
    atomicAdd(e + (i & 1), __float2half(1.0f));
#if __CUDA_ARCH__ >= 900
    atomicAdd((float4*)o + (i & 1), make_float4(x, 1, 2, 3));
    atomicAdd((float2*)o + 4 + (i & 1), make_float2(x, 1));
#endif
}

KERNEL atomics_standard(const int* a, int* g, u64* l, int* o) {
    INDEX;
    int x = a[i];
    cuda::atomic_ref<int, cuda::thread_scope_device> r(g[0]);
    cuda::atomic_ref<u64, cuda::thread_scope_system> w(l[0]);
    r.fetch_add(x, cuda::memory_order_relaxed);
    w.fetch_max((u64)x, cuda::memory_order_acq_rel);
    cuda::atomic_ref<int, cuda::thread_scope_block> own(g[1 + i]);
    own.store(x, cuda::memory_order_release);
    PUT(own.load(cuda::memory_order_acquire)); PUT(own.exchange(3)); PUT(own.fetch_or(4));
    int expected = 7;
    PUT(own.compare_exchange_strong(expected, 11)); PUT(own.load());
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

__device__ int turn;
KERNEL last_block(const int* a, int* partial, int* o) {
    __shared__ int last;
    int x = a[THREAD];
    for (int d = 16; d; d >>= 1) x += __shfl_down_sync(FULL, x, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = x;
        __threadfence();
        last = atomicAdd(&turn, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) { int sum = 0; for (int k = 0; k < gridDim.x; k++) sum += ((volatile int*)partial)[k]; *o = sum; }
}

KERNEL memory_hints(const float4* __restrict__ a, float4* o, volatile int* v, const int* b, int n) {
    int i = THREAD;
    float4 x = __ldg(a + i), y = __ldcg(a + i), z = __ldcs(a + n - 1 - i), w = __ldca(a + i);
    float4 c = __ldcv(a + i), u = __ldlu(a + i);
    __stwb(o + i, x); __stcg(o + n + i, y); __stcs(o + 2 * n + i, z); __stwt(o + 3 * n + i, w);
    o[4 * n + i] = make_float4(c.x, u.y, c.z, u.w);
    v[i] = v[n + i] + 1;
    int r, q;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.b32 %0, [%1];" : "=r"(r) : "l"(b + i));
    asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(q) : "l"(b + i) : "memory");
    asm volatile("st.release.sys.global.b32 [%0], %1;" :: "l"(v + 2 * n + i), "r"(r + q) : "memory");
    asm volatile("prefetch.global.L2 [%0];" :: "l"(b + i));
#if __CUDA_ARCH__ >= 800
    asm volatile("discard.global.L2 [%0], 128;" :: "l"((u64)(o + 5 * n)));
#endif
    v[3 * n + i] = __isGlobal((const void*)b) + 2 * __isShared((const void*)b) + 4 * __isLocal(&r) + 8 * __isConstant((const void*)b);
}

struct Mixed { char c; short s; int i; double d; char t[3]; };
struct __attribute__((packed)) Tight { char c; int i; short s; double d; };
KERNEL structures(const Mixed* a, Mixed* o, const Tight* p, Tight* q, const uchar3* r, uchar3* t, Mixed by_value) {
    int i = THREAD;
    Mixed m = a[i];
    m.c += by_value.c; m.s *= by_value.s; m.i ^= by_value.i; m.d += by_value.d; m.t[i % 3] = by_value.t[2 - i % 3];
    o[i] = m;
    Tight v = p[i];
    v.i += v.s; v.d *= 2; v.c = -v.c;
    q[i] = v;
    uchar3 k = r[i];
    t[i] = make_uchar3(k.z, k.x + 1, k.y ^ 255);
}

KERNEL vector_types(const int2* a, const double2* b, const longlong2* c, const short4* d, const uchar4* e, const int3* f, int4* o, double2* q, ushort4* h) {
    int i = THREAD;
    int2 x = a[i]; double2 y = b[i]; longlong2 z = c[i]; short4 w = d[i]; uchar4 v = e[i]; int3 u = f[i];
    o[i] = make_int4(x.x + w.x, x.y - w.w, v.x * u.x, v.w - u.z);
    q[i] = make_double2(y.x + z.y, y.y * w.z);
    h[i] = make_ushort4(w.y, v.y, v.z << 4, (unsigned short)u.y);
}

KERNEL local_arrays(const int* a, int* o, int n) {
    int b[24];
    double d[8];
    for (int k = 0; k < 24; k++) b[k] = a[THREAD] * k + k;
    for (int k = 0; k < 8; k++) d[k] = b[3 * k] * 0.5;
    int x = a[THREAD];
    for (int k = 0; k < n; k++) { int t = b[(x + k) % 24]; b[(t & 0xff) % 24] = t ^ k; d[t & 7] += b[k % 24]; x = t & 0xffff; }
    double sum = 0;
    for (int k = 0; k < 8; k++) sum += d[k];
    o[THREAD] = x + b[x % 24] + (int)sum;
}

__constant__ int powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
__device__ int table[4][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ const char* const words[3] = {"zero", "one", "seven"};
KERNEL constant_tables(const int* a, int* o) {
    const int local[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    int x = a[THREAD], sum = 0;
    for (const char* w = words[x % 3]; *w; w++) sum += *w;
    o[THREAD] = powers[x & 7] + powers[(x >> 3) & 7] + local[x & 7] * 7 + table[x & 1][x >> 1 & 3] + sum;
    if (THREAD == 0) table[3][3] = 77;
}

KERNEL generic_pointers(int* a, int which) {
    __shared__ int s[64];
    int local[4] = {1, 2, 3, 4};
    int* spaces[3] = {a, s, local};
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int* p = spaces[(which + threadIdx.x / 32) % 3];
    int at = which + threadIdx.x / 32 == 2 ? threadIdx.x & 3 : threadIdx.x;
    p[at] += 5;
    if (which + threadIdx.x / 32 < 2) atomicAdd(p + at, 100);
    __syncthreads();
    a[64 + threadIdx.x] = s[threadIdx.x] + local[threadIdx.x & 3] * 1000;
}

KERNEL async_copy(const int4* a, int4* o) {
#if __CUDA_ARCH__ >= 800
    __shared__ int4 s[2][128];
    __shared__ int n[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], a + t, 16);
    __pipeline_commit();
    for (int k = 0; k < 4; k++) {
        if (k < 3) __pipeline_memcpy_async(&s[k + 1 & 1][t], a + (k + 1) * 128 + t, 16);
        __pipeline_memcpy_async(&n[t], (const int*)a + 4 * k + (t & 7), 4, t & 1 ? 4 : 0);  // odd lanes: zeros
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        int4 v = s[k & 1][127 - t];
        __syncthreads();
        v.x += k;
        o[k * 128 + t] = v;
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    o[512 + t] = make_int4(n[t], n[t ^ 1], 0, 1);
#endif
}

KERNEL switch_table(const int* a, int* o) {
    int x = a[THREAD], y = THREAD, r = 0;
    switch (x) {
        case 0: r = y * 3; break;
        case 1: r = y / 7;
        case 2: r += x ^ y; break;
        case 3: for (int k = 0; k < y; k++) r += k * k; break;
        case 4: r = __popc(y) << 4; break;
        case 5: return;
        case 6: r = y % 11; break;
        case 7: r = y > 40 ? y : -y; break;
        case 8: r = o[y ^ 1]; break;
        case 9: r = __clz(y); break;
        default: r = -1;
    }
    o[THREAD] = r;
}

typedef int (*Binary)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ Binary operations[3] = {plus, times, minus};
KERNEL function_pointers(const int* a, int* o) { o[THREAD] = operations[a[THREAD] % 3](a[THREAD], THREAD) + operations[THREAD / 32 % 3](3, THREAD); }

struct Shape { __device__ virtual int area() const = 0; __device__ virtual int sides() const { return 0; } };
struct Square : Shape { int a; __device__ Square(int a) : a(a) {} __device__ int area() const override { return a * a; } __device__ int sides() const override { return 4; } };
struct Oblong : Shape { int a, b; __device__ Oblong(int a, int b) : a(a), b(b) {} __device__ int area() const override { return a * b; } };
KERNEL virtual_functions(const int* a, int* o) {
    int x = a[THREAD];
    Square s(x);
    Oblong r(x, THREAD);
    Shape* p = x & 1 ? (Shape*)&s : (Shape*)&r;
    o[THREAD] = p->area() * 10 + p->sides();
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
KERNEL recursion(const int* a, int* o) { o[THREAD] = fibonacci(a[THREAD] % 11) + 1000 * ackermann(a[THREAD] & 1, THREAD & 3); }

KERNEL jumps(const int* a, int* o, int n) {
    int x = a[THREAD], y = 0, k = 0;
again:
    if (x > 200) { x -= 100; goto middle; }
    y += x;
    if (y & 1) goto out;
middle:
    x = x * 5 / 3 + 1;
    if (++k < n) goto again;
    if (x == 7) return;
out:
    do { y += k + 1; if (y % 13 == 0) continue; if (y > 100000) break; y++; } while (y % 17);
    for (int i = 0; i < 5; i++) { for (int j = i; j < 5; j++) { if ((x >> j) & 1) { y ^= j << i; if (y & 64) goto end; } } }
end:
    o[THREAD] = y;
}

KERNEL uniform_branches(const float* a, float* o, int n, int mode, float scale, double shift, u64 mask) {
    float s = 0;
    int k = blockIdx.x * mode;
    for (int j = 0; j < n; j++) {
        if ((mask >> (j & 63)) & 1) { s += a[(k + threadIdx.x) & 255] * scale; k += j * mode; }
        else if (k % 3 == mode) { k = (k << 1) / 5; s -= shift; }
        else k ^= j;
        k = min(max(k, 3), 4000);
    }
    o[THREAD] = s + (mode > 2 ? __popc(mode) + blockIdx.x / n : scale);
}

KERNEL checks(const int* a, int* o, int limit) {
    int x = a[THREAD];
    if (x > limit) __trap();
    o[THREAD] = x;
}
