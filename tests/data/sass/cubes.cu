// Cube maps, plain and layered; and formatted reads of surfaces (SULD.P), which no compiler makes: their SULD.D.128
// was changed to it in the cubin, bit by bit.
#include <cuda_runtime.h>
#define KERNEL(name) extern "C" __global__ void name
#define SAMPLES cudaTextureObject_t t, int n, const float *x, const float *y, const float *z, const int *layer, uint4 *out
__device__ inline uint4 bits(float4 v){ return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w)); }
#define SAMPLE(name, expression) KERNEL(name)(SAMPLES){ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = bits(expression); }
SAMPLE(cube, (texCubemap<float4>(t, x[i], y[i], z[i])))
SAMPLE(cube_lod, (texCubemapLod<float4>(t, x[i], y[i], z[i], 0.f)))
SAMPLE(cube_layered, (texCubemapLayered<float4>(t, x[i], y[i], z[i], layer[i])))
SAMPLE(cube_layered_lod, (texCubemapLayeredLod<float4>(t, x[i], y[i], z[i], layer[i], 0.f)))
#define PTX4(name, text, ...) KERNEL(name)(SAMPLES){ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n){ uint4 v; asm volatile(text : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t), __VA_ARGS__); out[i]=v; } }
PTX4(gather_cube, "tld4.r.cube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];", "f"(x[i]), "f"(y[i]), "f"(z[i]))
PTX4(gather_cube_a, "tld4.a.cube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];", "f"(x[i]), "f"(y[i]), "f"(z[i]))
PTX4(gather_cube_layered, "tld4.g.acube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%8}];", "r"(layer[i]), "f"(x[i]), "f"(y[i]), "f"(z[i]))
#define PLACES const int *x, const int *y, const int *z
#define RD(name,text,...) KERNEL(name)(cudaSurfaceObject_t s, int n, PLACES, uint4*out){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n){ uint4 v=make_uint4(0,0,0,0); asm volatile("suld.b." text :"=r"(v.x),"=r"(v.y),"=r"(v.z),"=r"(v.w):"l"(s),__VA_ARGS__); out[i]=v; } }
RD(formatted_2d, "2d.v4.b32.zero {%0,%1,%2,%3}, [%4, {%5,%6}];", "r"(x[i]), "r"(y[i]))
RD(formatted_1d, "1d.v4.b32.zero {%0,%1,%2,%3}, [%4, {%5}];", "r"(x[i]))
RD(formatted_3d, "3d.v4.b32.clamp {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];", "r"(x[i]), "r"(y[i]), "r"(z[i]))
