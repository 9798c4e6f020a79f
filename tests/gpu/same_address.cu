// Which of the lanes of a warp that store to one address leaves its value there; and the order of their atomics.
// record_same_address.py makes the cases, runs this program on them and stores what it finds.
//   same_address CASES RESULTS
// CASES: uint32 n, then n cases of uint8 slot[32], uint32 mask (the lanes that store), uint32 late (those that do it
// in a second pass, behind a divergent branch), uint32 spread (log2 of the slots' distance in elements), uint32 threads.
// RESULTS: for every kernel in the order of main(), n * 32 bytes by slot (stores) or by lane (atomics).
#include <cstdint>
#include <cstdio>
#include <vector>

struct Case {
    uint8_t slot[32];
    uint32_t mask, late, spread, threads;
};

constexpr int REGION = 32 * 16 << 6; // bytes: 32 slots of 16 bytes, 64 elements apart
constexpr uint8_t NONE = 255, TORN = 254;
enum Space { GLOBAL, SHARED, GENERIC_GLOBAL, GENERIC_SHARED, VOLATILE_GLOBAL, VOLATILE_SHARED };
enum Kind { U8, U16, U32, U64, V2U32, V4U32, V2U64 };
template <int K> constexpr int SIZE = K == U8 ? 1 : K == U16 ? 2 : K == U32 ? 4 : K <= V2U32 ? 8 : 16; // bytes

#define STORE(SPACE, TYPE, OPERAND, CONSTRAINT, VALUE, POINTER)                                           \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p st" SPACE TYPE " [%1], " OPERAND "; }" ::"r"(on), \
                 "l"(POINTER), CONSTRAINT(VALUE)                                                          \
                 : "memory")

#define STORES(SPACE, POINTER)                                                                \
    if (K == U8) STORE(SPACE, ".u8", "%2", "r", word, POINTER);                               \
    if (K == U16) STORE(SPACE, ".u16", "%2", "h", (uint16_t)word, POINTER);                   \
    if (K == U32) STORE(SPACE, ".u32", "%2", "r", word, POINTER);                             \
    if (K == U64) STORE(SPACE, ".u64", "%2", "l", wide, POINTER);                             \
    if (K == V2U32) STORE(SPACE, ".v2.u32", "{%2, %2}", "r", word, POINTER);                  \
    if (K == V4U32) STORE(SPACE, ".v4.u32", "{%2, %2, %2, %2}", "r", word, POINTER);          \
    if (K == V2U64) STORE(SPACE, ".v2.u64", "{%2, %2}", "l", wide, POINTER);

// One block a case.  Every byte that a lane stores is the number of the lane.  `once` is 1: a loop cannot be predicated.
template <int S, int K> __global__ void stores(const Case *cases, int once, char *memory, uint8_t *winners) {
    __shared__ __align__(16) char shared[REGION];
    const Case &c = cases[blockIdx.x];
    const bool in_shared = S == SHARED || S == GENERIC_SHARED || S == VOLATILE_SHARED;
    char *base = in_shared ? shared : memory + (size_t)blockIdx.x * REGION;
    const int lane = threadIdx.x;
    const size_t apart = (size_t)SIZE<K> << c.spread;
    for (int slot = lane; slot < 32; slot += blockDim.x)
        for (int b = 0; b < SIZE<K>; b++) base[slot * apart + b] = (char)NONE;
    __syncthreads();
    char *to = base + c.slot[lane] * apart;
    const uint64_t at = in_shared && S != GENERIC_SHARED ? __cvta_generic_to_shared(to) : (uint64_t)to;
    const uint32_t on = c.mask >> lane & 1, word = lane * 0x01010101u, mine = c.late >> lane & 1;
    const uint64_t wide = (uint64_t)word << 32 | word;
#pragma unroll 1
    for (uint32_t pass = 0; pass < 2; pass++) {
        if (mine == pass) {
#pragma unroll 1
            for (int k = 0; k < once; k++) {
                if (S == GLOBAL) { STORES(".global", at) }
                if (S == SHARED) { STORES(".shared", at) }
                if (S == GENERIC_GLOBAL || S == GENERIC_SHARED) { STORES("", at) }
                if (S == VOLATILE_GLOBAL) { STORES(".volatile.global", at) }
                if (S == VOLATILE_SHARED) { STORES(".volatile.shared", at) }
            }
        }
        __syncwarp();
    }
    __syncthreads();
    for (int slot = lane; slot < 32; slot += blockDim.x) {
        const volatile uint8_t *found = (uint8_t *)base + slot * apart;
        uint8_t winner = found[0];
        for (int b = 1; b < SIZE<K>; b++)
            if (found[b] != winner) winner = TORN;
        winners[blockIdx.x * 32 + slot] = winner;
    }
}

// Each lane hands the generic address of a local variable to the lanes that have its slot: do they meet there?
__global__ void local_addresses(const Case *cases, int once, char *, uint8_t *found) {
    const Case &c = cases[blockIdx.x];
    const int lane = threadIdx.x;
    volatile uint32_t mine[4] = {NONE, NONE, NONE, NONE};
    uint64_t address = (uint64_t)&mine[lane & 3];
    address = __shfl_sync(__activemask(), address, c.slot[lane] % blockDim.x);
    for (int k = 0; k < once; k++)
        if (c.mask >> lane & 1) asm volatile("st.u32 [%0], %1;" ::"l"(address), "r"(lane) : "memory");
    __syncwarp();
    int writers = 0, value = NONE;
    for (int k = 0; k < 4; k++)
        if (mine[k] != NONE) value = mine[k], writers++;
    found[blockIdx.x * 32 + lane] = writers > 1 ? TORN : value;
}

enum Atomic { EXCHANGE32, ADD32, EXCHANGE64 };

// Old values: the lane that came before at this address (exchange), or how many did (add).
template <bool IN_SHARED, int A> __global__ void atomics(const Case *cases, int once, char *memory, uint8_t *before) {
    __shared__ __align__(16) char shared[REGION];
    const Case &c = cases[blockIdx.x];
    char *base = IN_SHARED ? shared : memory + (size_t)blockIdx.x * REGION;
    const int lane = threadIdx.x;
    const size_t apart = (size_t)(A == EXCHANGE64 ? 8 : 4) << c.spread;
    for (int slot = lane; slot < 32; slot += blockDim.x)
        if (A == EXCHANGE64)
            *(uint64_t *)(base + slot * apart) = NONE;
        else
            *(uint32_t *)(base + slot * apart) = A == ADD32 ? 0 : NONE;
    __syncthreads();
    char *to = base + c.slot[lane] * apart;
    const uint64_t at = IN_SHARED ? __cvta_generic_to_shared(to) : (uint64_t)to;
    uint64_t old = NONE;
    uint32_t old32 = NONE;
    if (c.mask >> lane & 1) {
#define ATOMIC(SPACE)                                                                                                  \
    if (A == EXCHANGE32) asm volatile("atom" SPACE ".exch.b32 %0, [%1], %2;" : "=r"(old32) : "l"(at), "r"(lane) : "memory"); \
    if (A == ADD32) asm volatile("atom" SPACE ".add.u32 %0, [%1], %2;" : "=r"(old32) : "l"(at), "r"(once) : "memory");   \
    if (A == EXCHANGE64)                                                                                               \
        asm volatile("atom" SPACE ".exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"((uint64_t)lane) : "memory");
        if (IN_SHARED) {
            ATOMIC(".shared")
        } else {
            ATOMIC(".global")
        }
    }
    before[blockIdx.x * 32 + lane] = A == EXCHANGE64 ? old : old32;
}

using Kernel = void (*)(const Case *, int, char *, uint8_t *);

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

template <int S> static void add(std::vector<Kernel> &kernels) {
    kernels.insert(kernels.end(), {stores<S, U8>, stores<S, U16>, stores<S, U32>, stores<S, U64>, stores<S, V2U32>,
                                   stores<S, V4U32>, stores<S, V2U64>});
}

int main(int, char **arguments) {
    uint32_t n = 0;
    FILE *in = fopen(arguments[1], "rb"), *out = fopen(arguments[2], "wb");
    if (!in || !out || fread(&n, 4, 1, in) != 1) return 1;
    std::vector<Case> cases(n);
    if (fread(cases.data(), sizeof(Case), n, in) != n) return 1;
    Case *on_device;
    char *memory;
    uint8_t *results;
    check(cudaMalloc(&on_device, n * sizeof(Case)));
    check(cudaMalloc(&memory, (size_t)n * REGION));
    check(cudaMalloc(&results, n * 32));
    check(cudaMemcpy(on_device, cases.data(), n * sizeof(Case), cudaMemcpyHostToDevice));

    std::vector<Kernel> kernels;
    add<GLOBAL>(kernels);
    add<SHARED>(kernels);
    add<GENERIC_GLOBAL>(kernels);
    add<GENERIC_SHARED>(kernels);
    add<VOLATILE_GLOBAL>(kernels);
    add<VOLATILE_SHARED>(kernels);
    kernels.insert(kernels.end(), {local_addresses, atomics<false, EXCHANGE32>, atomics<true, EXCHANGE32>,
                                   atomics<false, ADD32>, atomics<true, ADD32>, atomics<false, EXCHANGE64>,
                                   atomics<true, EXCHANGE64>});
    std::vector<uint8_t> found(n * 32);
    for (Kernel kernel : kernels) {
        check(cudaMemset(results, NONE, n * 32));
        for (uint32_t first = 0, next; first < n; first = next) { // cases of one size of block stand together
            for (next = first; next < n && cases[next].threads == cases[first].threads;) next++;
            kernel<<<next - first, cases[first].threads>>>(on_device + first, 1, memory + (size_t)first * REGION,
                                                           results + first * 32);
        }
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(found.data(), results, n * 32, cudaMemcpyDeviceToHost));
        if (fwrite(found.data(), 1, n * 32, out) != n * 32) return 1;
    }
    return fclose(out);
}
