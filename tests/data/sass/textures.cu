// Texture and surface instructions, one kernel per form.  Every sampling kernel stores the four 32-bit results.

#include <cuda_runtime.h>

#define KERNEL(name) extern "C" __global__ void name
#define SAMPLES                                                                                               \
    cudaTextureObject_t t, int n, const float *x, const float *y, const float *z, const int *layer, uint4 *out

__device__ inline uint4 bits(float4 v)
{
    return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}

#define SAMPLE(name, expression)                                                                              \
    KERNEL(name)(SAMPLES)                                                                                     \
    {                                                                                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                        \
        if (i < n)                                                                                            \
            out[i] = bits(expression);                                                                        \
    }

SAMPLE(tex_1d, (tex1D<float4>(t, x[i])))
SAMPLE(tex_2d, (tex2D<float4>(t, x[i], y[i])))
SAMPLE(tex_3d, (tex3D<float4>(t, x[i], y[i], z[i])))
SAMPLE(tex_1d_layered, (tex1DLayered<float4>(t, x[i], layer[i])))
SAMPLE(tex_2d_layered, (tex2DLayered<float4>(t, x[i], y[i], layer[i])))
SAMPLE(tex_1d_lod, (tex1DLod<float4>(t, x[i], y[i])))
SAMPLE(tex_2d_lod, (tex2DLod<float4>(t, x[i], y[i], z[i])))
SAMPLE(tex_3d_lod, (tex3DLod<float4>(t, x[i], y[i], z[i], z[i])))
SAMPLE(tex_1d_layered_lod, (tex1DLayeredLod<float4>(t, x[i], layer[i], y[i])))
SAMPLE(tex_2d_layered_lod, (tex2DLayeredLod<float4>(t, x[i], y[i], layer[i], z[i])))
SAMPLE(tex_1d_grad, (tex1DGrad<float4>(t, x[i], y[i], z[i])))
SAMPLE(tex_2d_grad, (tex2DGrad<float4>(t, x[i], y[i], make_float2(z[i], y[i]), make_float2(x[i], z[i]))))
SAMPLE(tex_2d_layered_grad, (tex2DLayeredGrad<float4>(t, x[i], y[i], layer[i], make_float2(z[i], y[i]), make_float2(x[i], z[i]))))
SAMPLE(tex_fetch, (tex1Dfetch<float4>(t, layer[i])))
SAMPLE(gather_0, (tex2Dgather<float4>(t, x[i], y[i], 0)))
SAMPLE(gather_1, (tex2Dgather<float4>(t, x[i], y[i], 1)))
SAMPLE(gather_2, (tex2Dgather<float4>(t, x[i], y[i], 2)))
SAMPLE(gather_3, (tex2Dgather<float4>(t, x[i], y[i], 3)))

// Integer coordinates and other forms that only PTX has.
#define PTX4(text, ...)                                                                                       \
    asm volatile("tex." text ";" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t), __VA_ARGS__)
#define SAMPLE_PTX(name, text, ...)                                                                           \
    KERNEL(name)(SAMPLES)                                                                                     \
    {                                                                                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                        \
        if (i < n) {                                                                                          \
            uint4 v;                                                                                          \
            PTX4(text, __VA_ARGS__);                                                                          \
            out[i] = v;                                                                                       \
        }                                                                                                     \
    }

SAMPLE_PTX(texel_1d, "1d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5}]", "r"(__float2int_rz(x[i])))
SAMPLE_PTX(texel_2d, "2d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}]", "r"(__float2int_rz(x[i])), "r"(__float2int_rz(y[i])))
SAMPLE_PTX(texel_3d, "3d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}]", "r"(__float2int_rz(x[i])), "r"(__float2int_rz(y[i])), "r"(__float2int_rz(z[i])))
SAMPLE_PTX(texel_1d_layered, "a1d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}]", "r"(layer[i]), "r"(__float2int_rz(x[i])))
SAMPLE_PTX(texel_2d_layered, "a2d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}]", "r"(layer[i]), "r"(__float2int_rz(x[i])), "r"(__float2int_rz(y[i])))

// Texel offsets, and a handle that is in memory.
SAMPLE_PTX(tex_2d_offset, "2d.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}], {%7,%8}", "f"(x[i]), "f"(y[i]), "r"(layer[i]), "r"(layer[i] >> 4))

KERNEL(pick)(const cudaTextureObject_t *textures, int k, const float *x, uint4 *out)
{
    out[threadIdx.x] = bits(tex2D<float4>(textures[k], x[threadIdx.x], 0.5f));
}

KERNEL(query_texture)(cudaTextureObject_t t, unsigned *out)
{
    unsigned v;
#define QUERY(k, what) asm volatile("txq." what ".b32 %0, [%1];" : "=r"(v) : "l"(t)); out[k] = v
    QUERY(0, "width");
    QUERY(1, "height");
    QUERY(2, "depth");
}

KERNEL(query_surface)(cudaSurfaceObject_t t, unsigned *out)
{
    unsigned v;
#define ASK(k, what) asm volatile("suq." what ".b32 %0, [%1];" : "=r"(v) : "l"(t)); out[k] = v
    ASK(0, "width");
    ASK(1, "height");
    ASK(2, "depth");
}

// Ordinary kernels: narrow results, conversions, filters.

KERNEL(blur)(cudaTextureObject_t t, int width, int height, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += tex2D<float>(t, x + dx + 0.5f, y + dy + 0.5f);
    out[y * width + x] = sum / 9;
}

KERNEL(rotate_image)(cudaTextureObject_t t, int width, int height, float angle, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    float c = cosf(angle), s = sinf(angle);
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(t, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}

KERNEL(sum_bytes)(cudaTextureObject_t t, int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar4 v = tex1Dfetch<uchar4>(t, i);
        out[i] = v.x + 2 * v.y + 3 * v.z + 4 * v.w;
    }
}

KERNEL(narrow_types)(cudaTextureObject_t bytes, cudaTextureObject_t shorts, cudaTextureObject_t pairs, int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int2 p = tex1Dfetch<int2>(pairs, i);
        out[i] = tex1Dfetch<signed char>(bytes, i) + tex1Dfetch<unsigned short>(shorts, i) * p.y - p.x;
    }
}

// Loops of different length: how splits meet around texture instructions.
KERNEL(march)(cudaTextureObject_t t, const int *trips, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, x = 0.5f;
    for (int k = 0; k < trips[i]; k++) {
        float v = tex2D<float>(t, x, k + 0.5f);
        if (v > 0.5f)
            sum += tex2D<float>(t, x + 1, k + 0.5f);
        else
            x += v;
    }
    out[i] = sum;
}

KERNEL(chase)(cudaTextureObject_t t, int n, int *out)
{
    int at = threadIdx.x;
    long long start = clock64();
#pragma unroll 8
    for (int k = 0; k < n; k++)
        at = tex1Dfetch<int>(t, at);
    out[2 * threadIdx.x] = (int)(clock64() - start);
    out[2 * threadIdx.x + 1] = at;
}

KERNEL(slices)(cudaTextureObject_t t, int depth, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < depth; k++)
        sum += tex3D<float>(t, threadIdx.x + 0.25f, blockIdx.x + 0.75f, k + 0.5f);
    out[i] = sum;
}

// Surfaces.  Reads and writes of 1 to 16 bytes, three modes out of bounds; x in bytes.

#define PLACES const int *x, const int *y, const int *z
#define READ(name, T, expression)                                                                             \
    KERNEL(name)(cudaSurfaceObject_t s, int n, PLACES, T *out)                                                \
    {                                                                                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                        \
        if (i < n)                                                                                            \
            out[i] = expression;                                                                              \
    }
#define WRITE(name, T, statement)                                                                             \
    KERNEL(name)(cudaSurfaceObject_t s, int n, PLACES, const T *in)                                           \
    {                                                                                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                        \
        if (i < n) {                                                                                          \
            T v = in[i];                                                                                      \
            statement;                                                                                        \
        }                                                                                                     \
    }
#define PLANE(T, mode, boundary)                                                                              \
    READ(read_2d_##T##mode, T, surf2Dread<T>(s, x[i], y[i], boundary))                                        \
    WRITE(write_2d_##T##mode, T, surf2Dwrite(v, s, x[i], y[i], boundary))
#define OTHERS(T, mode, boundary)                                                                             \
    READ(read_1d_##T##mode, T, surf1Dread<T>(s, x[i], boundary))                                              \
    READ(read_3d_##T##mode, T, surf3Dread<T>(s, x[i], y[i], z[i], boundary))                                  \
    READ(read_1d_layered_##T##mode, T, surf1DLayeredread<T>(s, x[i], z[i], boundary))                         \
    READ(read_2d_layered_##T##mode, T, surf2DLayeredread<T>(s, x[i], y[i], z[i], boundary))                   \
    WRITE(write_1d_##T##mode, T, surf1Dwrite(v, s, x[i], boundary))                                           \
    WRITE(write_3d_##T##mode, T, surf3Dwrite(v, s, x[i], y[i], z[i], boundary))                               \
    WRITE(write_1d_layered_##T##mode, T, surf1DLayeredwrite(v, s, x[i], z[i], boundary))                      \
    WRITE(write_2d_layered_##T##mode, T, surf2DLayeredwrite(v, s, x[i], y[i], z[i], boundary))
#define ALL(WHICH, T) WHICH(T, _zero, cudaBoundaryModeZero) WHICH(T, _clamp, cudaBoundaryModeClamp) WHICH(T, _trap, cudaBoundaryModeTrap)

typedef unsigned char byte;
ALL(PLANE, byte)
ALL(PLANE, ushort)
ALL(PLANE, uint)
ALL(PLANE, uint2)
ALL(PLANE, uint4)
ALL(OTHERS, uint)

#define REDUCE(name, text, T, code)                                                                           \
    KERNEL(name)(cudaSurfaceObject_t s, int n, PLACES, const T *in)                                           \
    {                                                                                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                        \
        if (i < n)                                                                                            \
            asm volatile("sured." text ", {%1, %2}], %3;" ::"l"(s), "r"(x[i]), "r"(y[i]), code(in[i]) : "memory"); \
    }
REDUCE(sured_add_u32, "b.add.2d.u32.zero [%0", uint, "r")
REDUCE(sured_add_u64, "b.add.2d.u64.zero [%0", unsigned long long, "l")
REDUCE(sured_min_s32, "b.min.2d.s32.clamp [%0", uint, "r")
REDUCE(sured_max_u32, "b.max.2d.u32.trap [%0", uint, "r")
REDUCE(sured_and_b32, "b.and.2d.b32.zero [%0", uint, "r")
REDUCE(sured_or_b32, "b.or.2d.b32.zero [%0", uint, "r")
REDUCE(sured_p_add, "p.add.2d.b32.zero [%0", uint, "r")

#define STORE_P(name, text)                                                                                   \
    KERNEL(name)(cudaSurfaceObject_t s, int n, PLACES, const uint4 *in)                                       \
    {                                                                                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                        \
        if (i < n) {                                                                                          \
            uint4 v = in[i];                                                                                  \
            asm volatile("sust.p." text ".zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(x[i]), "r"(y[i]), "r"(v.x), \
                         "r"(v.y), "r"(v.z), "r"(v.w) : "memory");                                            \
        }                                                                                                     \
    }
STORE_P(store_formatted, "2d.v4.b32")

KERNEL(invert)(cudaSurfaceObject_t s, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar4 v = surf2Dread<uchar4>(s, 4 * x, y);
        v.x = 255 - v.x, v.y = 255 - v.y, v.z = 255 - v.z;
        surf2Dwrite(v, s, 4 * x, y);
    }
}
