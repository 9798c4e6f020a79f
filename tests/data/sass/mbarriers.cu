// Kernels of the tests of mbarriers: cuda::barrier, cuda::pipeline, memcpy_async, and each PTX instruction by itself.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
using B = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void simple(int *data, int *out, int rounds) {
    __shared__ B bar; __shared__ int tile[256];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    int x = data[threadIdx.x];
    for (int k = 0; k < rounds; ++k) {
        tile[threadIdx.x] = x;
        B::arrival_token t = bar.arrive();
        int y = x * 3;
        bar.wait(std::move(t));
        x = tile[(threadIdx.x + 33) % blockDim.x] + y;
        bar.arrive_and_wait();
    }
    out[threadIdx.x] = x;
}
extern "C" __global__ void drop(int *data, int *out) {
    __shared__ B bar; __shared__ int tile[256];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    tile[threadIdx.x] = data[threadIdx.x];
    if (threadIdx.x % 3 == 0) { bar.arrive_and_drop(); return; }
    bar.arrive_and_wait();
    int x = tile[(threadIdx.x + 17) % blockDim.x];
    bar.arrive_and_wait();
    tile[threadIdx.x] = x + 1;
    bar.wait(bar.arrive(1));
    out[threadIdx.x] = tile[(threadIdx.x+1) %3 ? (threadIdx.x+1) % 3 : 1];
}
extern "C" __global__ void copy(const int *data, int *out, int n) {
    __shared__ B bar; __shared__ alignas(128) int tile[1024];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    int sum = 0;
    for (int at = 0; at < n; at += 1024) {
        cuda::memcpy_async(block, tile, data + at, cuda::aligned_size_t<16>(sizeof(int) * 1024), bar);
        bar.arrive_and_wait();
        for (int k = 0; k < 1024; k += 128) sum += tile[k + threadIdx.x] ;
        block.sync();
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void copy_one(const int *data, int *out) {
    __shared__ B bar; __shared__ int tile[128];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(tile + threadIdx.x, data + threadIdx.x, sizeof(int), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
extern "C" __global__ void cgcopy(const int *data, int *out, int n) {
    __shared__ alignas(128) int tile[1024];
    auto block = cg::this_thread_block();
    int sum = 0;
    for (int at = 0; at < n; at += 1024) {
        cg::memcpy_async(block, tile, data + at, sizeof(int) * 1024);
        cg::wait(block);
        for (int k = 0; k < 1024; k += 128) sum += tile[k + threadIdx.x];
        block.sync();
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void pipe(const int *data, int *out, int n) {
    constexpr int stages = 2;
    __shared__ alignas(128) int tile[stages][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto p = cuda::make_pipeline(block, &state);
    int batches = n / 256, fetch = 0, sum = 0;
    for (int b = 0; b < batches; ++b) {
        for (; fetch < batches && fetch < b + stages; ++fetch) {
            p.producer_acquire();
            cuda::memcpy_async(block, tile[fetch % stages], data + fetch * 256, cuda::aligned_size_t<16>(1024), p);
            p.producer_commit();
        }
        p.consumer_wait();
        for (int k = 0; k < 256; k += 64) sum += tile[b % stages][(threadIdx.x + k) % 256] * (b + 1);
        p.consumer_release();
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void roles(const int *data, int *out, int n) {
    __shared__ int tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto p = cuda::make_pipeline(block, &state, role);
    int batches = n / 64;
    if (role == cuda::pipeline_role::producer) for (int b = 0; b < batches; ++b) {
        p.producer_acquire(); 
        cuda::memcpy_async(&tile[b % 2][threadIdx.x], data + 64 * b + threadIdx.x, 4, p);
        p.producer_commit();
    } else { int sum = 0; for (int b = 0; b < batches; ++b) {
        p.consumer_wait(); sum += tile[b % 2][(threadIdx.x * 7) % 64] * (b + 1); p.consumer_release(); }
        out[threadIdx.x - 64] = sum; }
}
extern "C" __global__ void ptx(const int *data, int *out, unsigned long long *states) {
    __shared__ unsigned long long bar; 
    unsigned a = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(a), "r"(blockDim.x)); states[0] = *(volatile unsigned long long*)&bar; }
    __syncthreads();
    unsigned long long s; unsigned ok = 0, tries = 0;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s) : "r"(a) : "memory");
    states[1 + threadIdx.x] = s;
    while (!ok) { asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0,1,0,p;}" : "=r"(ok) : "r"(a), "l"(s) : "memory"); tries++; }
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 0;" : "=l"(s) : "r"(a) : "memory");
    ok = 0;
    while (!ok) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0,1,0,p;}" : "=r"(ok) : "r"(a), "r"(1) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) { states[200] = *(volatile unsigned long long*)&bar; asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(a)); states[201] = *(volatile unsigned long long*)&bar;}
    out[threadIdx.x] = data[threadIdx.x] + (tries > 0);
}

// Every block runs a stream of instructions; each of its lanes with the barrier lane / group.
typedef unsigned long long u64;
#define CASE(n, text) case n: asm volatile(text : "+l"(r) : "r"(at), "r"(a), "l"(s) : "memory"); break;
extern "C" __global__ void stream(const unsigned *ops, const unsigned *args, const u64 *states, u64 *results, int n, int group) {
    __shared__ u64 bar[32];
    const int lane = threadIdx.x;
    const unsigned at = (unsigned)__cvta_generic_to_shared(&bar[lane / group]);
    for (int k = 0; k < n; ++k) {
        const int i = blockIdx.x * n + k;
        u64 r = 0x123456789abcdefull, s = states[i];
        const unsigned a = args[i];
        __syncwarp();
        if (ops[i] != 0 || lane % group == 0) switch (ops[i]) {
            CASE(0, "mbarrier.init.shared.b64 [%1], %2;")
            CASE(1, "mbarrier.arrive.shared.b64 %0, [%1];")
            CASE(2, "mbarrier.arrive.shared.b64 %0, [%1], %2;")
            CASE(3, "mbarrier.arrive_drop.shared.b64 %0, [%1];")
            CASE(4, "mbarrier.arrive_drop.shared.b64 %0, [%1], %2;")
            CASE(5, "mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;")
            CASE(6, "mbarrier.arrive_drop.expect_tx.shared::cta.b64 %0, [%1], %2;")
            CASE(7, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%1], %2;")
            CASE(8, "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%1], %2;")
            CASE(9, "{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %3; selp.u64 %0, 1, 0, p;}")
            CASE(10, "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u64 %0, 1, 0, p;}")
            CASE(11, "cp.async.mbarrier.arrive.shared.b64 [%1]; cp.async.wait_all;")
            CASE(12, "cp.async.mbarrier.arrive.noinc.shared.b64 [%1]; cp.async.wait_all;")
        }
        __syncwarp();
        results[i * blockDim.x + lane] = r;
    }
}
