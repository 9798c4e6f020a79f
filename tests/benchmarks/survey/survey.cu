// Kernels as people write them: one launch each of many kinds, cold caches.  Data: small integers, hashes of the index.
#include <cmath>
#include <cuda_fp16.h>

#include "../microbenchmarks/common.cuh"

typedef unsigned char byte;
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#include "memory.cuh"
#include "grids.cuh"
#include "algebra.cuh"
#include "numbers.cuh"

const int N = 1 << 24;  // words of each array
template <class T> T *filled(unsigned seed, unsigned mask) {
    std::vector<unsigned> v(N);
    for (int i = 0; i < N; i++) v[i] = hashed(i + seed) & mask;
    unsigned *p = allocate<unsigned>(N);
    upload(p, v);
    return (T *)p;
}
float *floats(unsigned seed) {
    std::vector<float> v(N);
    for (int i = 0; i < N; i++) v[i] = (hashed(i + seed) & 1023) / 64.0f;
    float *p = allocate<float>(N);
    upload(p, v);
    return p;
}
std::vector<int> wanted;
bool on(int number) {
    for (int w : wanted) if (w == number) return true;
    return wanted.empty();
}
#define RUN(...) if (on(__COUNTER__)) __VA_ARGS__
int main(int argc, char **argv) {
    for (int k = 1; k < argc; k++) wanted.push_back(atoi(argv[k]));
    float *f = floats(1), *g = floats(2);
    int *x = filled<int>(3, 0xffff);
    byte *b = filled<byte>(4, ~0u);
    float *o = allocate<float>(N);
    int *a = allocate<int>(N), *y = allocate<int>(N);
    double *d = allocate<double>(N / 2);
    std::vector<int> rows(65537), cols(1 << 20), index(1 << 20), sorted(1 << 20), ring(1 << 20);
    for (int i = 0, at = 0; i <= 65536; i++) { rows[i] = at; at += hashed(i) % 31; }
    for (int i = 0; i < 1 << 20; i++) { cols[i] = hashed(i + 9) & 65535; index[i] = hashed(i + 11) & ((1 << 20) - 1); sorted[i] = i / 16; ring[i] = (i * 40503u + 12345u) & ((1 << 20) - 1); }
    auto up = [](std::vector<int> &v) { int *p = allocate<int>(v.size()); upload(p, v); return p; };
    int *r = up(rows), *c = up(cols), *at = up(index), *so = up(sorted), *ri = up(ring);
    dim3 t16(16, 16), t32(32, 32), t328(32, 8);

    RUN(local_hist<<<1, 64>>>(1 << 14, b, a));
    RUN(local_hist<<<64, 128>>>(1 << 20, b, a));
    RUN(local_sort<<<64, 128>>>(x, y, 48));
    RUN(local_big<<<32, 64>>>(f, o, 1 << 16));
    RUN(atomic_turns<<<1000, 1000>>>(a, 16));
    RUN(atomic_turns<<<1000, 256>>>(a, 100));
    RUN(compact_atomic<<<2048, 256>>>(x, y, a, 1 << 19));
    RUN(hist_global<<<1024, 256>>>(b, (unsigned *)a, 1 << 18));
    RUN(hist_shared<<<128, 256>>>(b, (unsigned *)a, 1 << 20));
    RUN(max_cas<<<512, 256>>>(f, o, 1 << 17));
    RUN(sum_atomic_double<<<256, 256>>>((double *)f, d, 1 << 16));
    RUN(hash_insert<<<512, 256>>>(x, a, 1 << 17, 1 << 18));
    RUN(copy_bytes<<<4096, 256>>>(b, (byte *)y, 1 << 20));
    RUN(gray<<<dim3(64, 64), t16>>>(b, (byte *)y, 1024, 1024));
    RUN(box_blur<<<dim3(32, 32), t16>>>(b, (byte *)y, 512, 512, 3));
    RUN(sobel<<<dim3(64, 64), t16>>>(f, o, 1024, 1024));
    RUN(conv_constant<<<dim3(16, 32), t328>>>(f, o, 512, 256));
    RUN(product<int><<<dim3(16, 16), t16>>>(x, x, y, 256));
    RUN(product<double><<<dim3(16, 16), t16>>>((double *)f, (double *)g, d, 256));
    RUN(product<float><<<dim3(16, 16), t32>>>(f, g, o, 512));
    RUN(product_by_rows<<<dim3(16, 16), t16>>>(f, g, o, 256));
    RUN(product_tiled<float, 16><<<dim3(32, 32), t16>>>(f, g, o, 512));
    RUN(product_tiled<float, 32><<<dim3(8, 8), t32>>>(f, g, o, 256));
    RUN(product_tiled<double, 16><<<dim3(16, 16), t16>>>((double *)f, (double *)g, d, 256));
    RUN(product_registers<<<dim3(8, 8), 256>>>(f, g, o, 512));
    RUN(matvec_row<<<16, 256>>>(f, g, o, 4096, 1024));
    RUN(matvec_row<<<8, 128>>>(f, g, o, 1000, 1000));
    RUN(matvec_col<<<16, 256>>>(f, g, o, 4096, 1024));
    RUN(matvec_block<<<2048, 256, 1024>>>(f, g, o, 2048));
    RUN(eliminate<<<dim3(32, 32), t16>>>(f, 512, 3));
    RUN(lu_block<<<1, 512>>>(f, 96));
    RUN(transpose_tile<32><<<dim3(32, 32), t328>>>(f, o, 1024, 8));
    RUN(transpose_tile<33><<<dim3(64, 64), t32>>>(f, o, 2048, 32));
    RUN(transpose_plain<<<dim3(64, 64), t16>>>(f, o, 1024));
    RUN(transpose_plain<<<dim3(64, 64), t32>>>(f, o, 2048));
    RUN(nbody<<<32, 128>>>((float4 *)f, (float4 *)o, 4096));
    RUN(nbody_shared<<<64, 128>>>((float4 *)f, (float4 *)o, 8192));
    RUN(kmeans_assign<<<256, 256>>>(f, g, y, 65536, 16, 8));
    RUN(move_structs<<<1024, 256>>>((Particle *)f, 1 << 18, 0.1f));
    RUN(mandelbrot<float><<<dim3(32, 32), t16>>>(y, 512, 512, 256));
    RUN(mandelbrot<double><<<dim3(16, 32), t328>>>(y, 512, 256, 128));
    RUN(monte_carlo_pi<<<256, 256>>>((unsigned long long *)a, 200));
    RUN(primes<<<400, 256>>>(y, 100000));
    RUN(collatz<<<400, 256>>>(y, 100000));
    RUN(gcds<<<512, 256>>>(x, x + 1000, y, 1 << 17));
    RUN(modpow<<<256, 256>>>(x, (long long *)y, 65536));
    RUN(black_scholes<<<1024, 256>>>(f, g, f + 1000000, o, o + 1000000, 1 << 18));
    RUN(black_scholes_double<<<512, 256>>>((double *)f, d, 1 << 17));
    RUN(functions<<<512, 256>>>(f, o, 1 << 17));
    RUN(functions_large<<<512, 256>>>(f, o, 1 << 17));
    RUN(integrate<<<64, 256>>>(d, 100));
    RUN(mixing<<<264, 256>>>((unsigned *)x, (unsigned *)y, 16));
    RUN(crc_table<<<64, 256>>>(b, (unsigned *)x, (unsigned *)y, 64));
    RUN(crc_constant<<<64, 256>>>(b, (unsigned *)y, 64));
    RUN(half_axpy<<<2048, 256>>>((__half2 *)f, (__half2 *)o, 1 << 19));
    RUN(recursion<<<16, 64>>>(y, 10));
    RUN(virtual_calls<<<1024, 256>>>(f, o, 1 << 18));
    RUN(bitonic_step<<<2048, 256>>>(x, 1024, 4096));
    RUN(bitonic_step<<<1024, 512>>>(x, 4, 16));
    RUN(bitonic_block<<<256, 512, 2048>>>(x));
    RUN(odd_even<<<1, 512>>>(x, 1024));
    RUN(rank_sort<<<32, 256>>>(x, y, 8192));
    RUN(binary_search<<<1024, 256>>>(so, x, y, 1 << 20, 1 << 18));
    RUN(hillis<<<512, 1024>>>(x, y));
    RUN(blelloch<<<512, 512, 4096>>>(x, y));
    RUN(scan_alone<<<1, 1>>>(x, y, 4096));
    RUN(scan_warp<<<2048, 256>>>(x, y, 1 << 19));
    RUN(dot_block<<<32, 256>>>(f, g, o, 33 * 1024));
    RUN(dot_block<<<1024, 256>>>(f, g, o, 1 << 22));
    RUN(reduce_modulo<<<4096, 256, 1024>>>(x, y));
    RUN(reduce_atomic_block<<<2048, 256>>>(x, a, 1 << 19));
    RUN(reduce_last_block<<<256, 256>>>(f, o, (unsigned *)a, o + 1000, 1 << 20));
    RUN(stencil_1d<<<4096, 256>>>(x, y));
    RUN(heat_2d<float><<<dim3(128, 128), t16>>>(f, o, 2048, 2048));
    RUN(heat_2d<double><<<dim3(32, 32), t32>>>((double *)f, d, 1024, 1024));
    RUN(heat_3d<<<dim3(16, 16, 16), dim3(8, 8, 8)>>>(f, o, 128));
    RUN(life<<<dim3(32, 128), t328>>>(x, y, 1024, 1024));
    RUN(jacobi_block<<<1, 256>>>(f, o, 2048, 50));
    RUN(floyd<<<dim3(2, 512), 256>>>(x, 512, 7));
    RUN(lcs_diagonals<<<1, 256>>>(b, b + 1000, y, 300));
    RUN(spmv_scalar<<<256, 256>>>(r, c, f, g, o, 65536));
    RUN(spmv_vector<<<2048, 256>>>(r, c, f, g, o, 16384));
    RUN(bfs_level<<<256, 256>>>(r, c, x, 1, 65536, a));
    RUN(push_ranks<<<64, 256>>>(r, c, f, o, 16384));
    RUN(dft<<<8, 256>>>(f, (float2 *)o, 1024));
    RUN(fft_block<<<256, 512>>>((float2 *)f));
    RUN(dct_8x8<<<dim3(64, 64), dim3(8, 8)>>>(f, o, 512));
    RUN(cases<<<1024, 256>>>(x, y, 1 << 18));
    RUN(trips<<<512, 256>>>(x, o, 1 << 17));
    RUN(mostly_idle<<<8192, 256>>>(x, y, 100000));
    RUN(saxpy<<<4096, 256>>>(1 << 20, 2.0f, f, o));
    RUN(saxpy<<<1 << 14, 1024>>>(1 << 24, 2.0f, f, o));
    RUN(saxpy<<<20000, 32>>>(640000, 2.0f, f, o));
    RUN(saxpy<<<20000, 1>>>(20000, 2.0f, f, o));
    RUN(saxpy<<<4000, 100>>>(400000, 2.0f, f, o));
    RUN(saxpy_stride<<<128, 256>>>(1 << 22, 2.0f, f, o));
    RUN(saxpy_stride<<<1, 256>>>(1 << 14, 2.0f, f, o));
    RUN(saxpy_chunks<<<64, 256>>>(1 << 19, 2.0f, f, o));
    RUN(copy_vectors<<<4096, 256>>>((float4 *)f, (float4 *)o, 1 << 20));
    RUN(copy_spaced<<<2048, 256>>>(f, o, 1 << 24, 32));
    RUN(copy_spaced<<<2048, 256>>>(f, o, 1 << 22, 8));
    RUN(reverse<<<4096, 256>>>(x, y, 1 << 20));
    RUN(gather<<<4096, 256>>>(at, f, o, 1 << 20));
    RUN(scatter<<<4096, 256>>>(at, f, o, 1 << 20));
    RUN(iota<<<16384, 256>>>(y, 1 << 22));
    RUN(fill_double<<<2048, 512>>>(d, 1 << 20));
    RUN(add_3d<<<dim3(16, 16, 16), dim3(8, 8, 8)>>>(f, o, 128, 128, 128));
    cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152);
    RUN(big_shared<<<512, 128, 49152>>>(f, o, 100));
    RUN(chase<<<64, 128>>>(ri, y, 64));
    RUN(softmax_row<<<8, 256>>>(f, o, 256));
    RUN(layer_norm<<<1024, 256>>>(f, o, 1024));
    RUN(attention_scores<<<dim3(16, 16), t16>>>(f, g, o, 256, 64));
    RUN(max_pool<<<dim3(32, 32), t16>>>(f, o, 1024));
    RUN(string_search<<<1024, 256>>>(b, b + 5000, a, 1 << 18, 16));
    finish();
    return 0;
}
