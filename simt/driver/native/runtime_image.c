// Arrays, copies of three dimensions, textures and surfaces of the runtime: those of the driver in other structures.
#include "objects.h"
#include "runtime.h"

struct channels { int x, y, z, w, kind; };  // cudaChannelFormatDesc; kinds: signed, unsigned, float
struct extent { size_t width, height, depth; };
struct position { size_t x, y, z; };
struct pitched { void *ptr; size_t pitch, xsize, ysize; };
struct array3d_descriptor { size_t width, height, depth; unsigned format, channels, flags; };
CUresult cuArray3DCreate_v2(CUarray *, const struct array3d_descriptor *), cuArrayDestroy(CUarray), cuArray3DGetDescriptor_v2(struct array3d_descriptor *, CUarray);
CUresult cuMemcpy3DAsync_v2(const void *, cudaStream_t);

// ---- formats
API(struct channels) cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (struct channels){x, y, z, w, kind}; }
static bool format_of(const struct channels *c, unsigned *format, unsigned *n) {  // CUarray_format
  static const unsigned integers[2][3] = {{0x08, 0x09, 0x0a}, {0x01, 0x02, 0x03}};
  *n = !!c->x + !!c->y + !!c->z + !!c->w;
  int size = c->x == 8 ? 0 : c->x == 16 ? 1 : c->x == 32 ? 2 : -1;
  if (size < 0 || c->kind > 2 || c->kind == 2 && !size) return false;
  *format = c->kind == 2 ? size == 1 ? 0x10 : 0x20 : integers[c->kind][size];
  return true;
}
static struct channels channels_of(unsigned format, unsigned n) {
  int bits = format == 0x01 || format == 0x08 ? 8 : format == 0x02 || format == 0x09 || format == 0x10 ? 16 : 32;
  int kind = format >= 0x10 ? 2 : format < 0x08;
  return (struct channels){bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, kind};
}

// ---- arrays
API(cudaError_t) cudaMalloc3DArray(CUarray *out, const struct channels *c, struct extent e, unsigned flags) {
  BEGIN();
  struct array3d_descriptor d = {e.width, e.height, e.depth, 0, 0, flags};
  if (!format_of(c, &d.format, &d.channels)) return simt_runtime_unsupported("cudaMalloc3DArray of this format");
  return simt_end(cuArray3DCreate_v2(out, &d));
}
API(cudaError_t) cudaMallocArray(CUarray *out, const struct channels *c, size_t width, size_t height, unsigned flags) {
  ENTER();
  return cudaMalloc3DArray(out, c, (struct extent){width, height, 0}, flags);
}
API(cudaError_t) cudaFreeArray(CUarray a) { BEGIN(); return a ? simt_end(cuArrayDestroy(a)) : cudaSuccess; }
API(cudaError_t) cudaArrayGetInfo(struct channels *c, struct extent *e, unsigned *flags, CUarray a) {
  struct array3d_descriptor d;
  BEGIN();
  DRIVER(cuArray3DGetDescriptor_v2(&d, a));
  if (c) *c = channels_of(d.format, d.channels);
  if (e) *e = (struct extent){d.width, d.height, d.depth};
  if (flags) *flags = d.flags;
  return cudaSuccess;
}
API(cudaError_t) cudaGetChannelDesc(struct channels *c, CUarray a) { ENTER(); return cudaArrayGetInfo(c, NULL, NULL, a); }
static cudaError_t texel_of(CUarray a, size_t *bytes) {
  struct channels c;
  cudaError_t wrong = cudaArrayGetInfo(&c, NULL, NULL, a);
  *bytes = wrong ? 1 : (c.x + c.y + c.z + c.w) / 8;
  return wrong;
}

// ---- copies
struct memcpy3d {  // CUDA_MEMCPY3D
  size_t from_x, from_y, from_z, from_lod; int from_type; const void *from_host; CUdeviceptr from; CUarray from_array; void *r0; size_t from_pitch, from_height;
  size_t to_x, to_y, to_z, to_lod; int to_type; void *to_host; CUdeviceptr to; CUarray to_array; void *r1; size_t to_pitch, to_height;
  size_t width, height, depth;
};
enum { ARRAY = 3, UNIFIED = 4 };  // CUmemorytype
struct parameters { CUarray from_array; struct position from_at; struct pitched from; CUarray to_array; struct position to_at; struct pitched to; struct extent extent; int kind; };
API(cudaError_t) cudaMemcpy3DAsync(const struct parameters *p, cudaStream_t s) {
  size_t from_texel = 1, to_texel = 1;
  BEGIN();
  if (p->from_array && texel_of(p->from_array, &from_texel) || p->to_array && texel_of(p->to_array, &to_texel)) return cudaErrorInvalidValue;
  size_t texel = p->from_array ? from_texel : to_texel;  // with an array on either side the extent counts its texels
  struct memcpy3d c = {
      .from_x = p->from_at.x * from_texel, .from_y = p->from_at.y, .from_z = p->from_at.z, .from_type = p->from_array ? ARRAY : UNIFIED,
      .from = (CUdeviceptr)p->from.ptr, .from_array = p->from_array, .from_pitch = p->from.pitch, .from_height = p->from.ysize,
      .to_x = p->to_at.x * to_texel, .to_y = p->to_at.y, .to_z = p->to_at.z, .to_type = p->to_array ? ARRAY : UNIFIED,
      .to = (CUdeviceptr)p->to.ptr, .to_array = p->to_array, .to_pitch = p->to.pitch, .to_height = p->to.ysize,
      .width = p->extent.width * texel, .height = p->extent.height, .depth = p->extent.depth};
  return simt_end(cuMemcpy3DAsync_v2(&c, s));
}
API(cudaError_t) cudaMemcpy3D(const struct parameters *p) { ENTER(); return cudaMemcpy3DAsync(p, NULL); }
static cudaError_t array_copy(CUarray to, size_t tx, size_t ty, void *out, size_t out_pitch, CUarray from, size_t fx, size_t fy, const void *in, size_t in_pitch, size_t width, size_t height, cudaStream_t s) {
  struct memcpy3d c = {
      .from_x = fx, .from_y = fy, .from_type = from ? ARRAY : UNIFIED, .from = (CUdeviceptr)in, .from_array = from, .from_pitch = in_pitch, .from_height = height,
      .to_x = tx, .to_y = ty, .to_type = to ? ARRAY : UNIFIED, .to = (CUdeviceptr)out, .to_array = to, .to_pitch = out_pitch, .to_height = height,
      .width = width, .height = height, .depth = 1};
  return simt_end(cuMemcpy3DAsync_v2(&c, s));
}
API(cudaError_t) cudaMemcpy2DToArrayAsync(CUarray a, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind, cudaStream_t s) { BEGIN(); return array_copy(a, x, y, NULL, 0, NULL, 0, 0, from, pitch, width, height, s); }
API(cudaError_t) cudaMemcpy2DToArray(CUarray a, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind) { BEGIN(); return array_copy(a, x, y, NULL, 0, NULL, 0, 0, from, pitch, width, height, NULL); }
API(cudaError_t) cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, CUarray a, size_t x, size_t y, size_t width, size_t height, int kind, cudaStream_t s) { BEGIN(); return array_copy(NULL, 0, 0, to, pitch, a, x, y, NULL, 0, width, height, s); }
API(cudaError_t) cudaMemcpy2DFromArray(void *to, size_t pitch, CUarray a, size_t x, size_t y, size_t width, size_t height, int kind) { BEGIN(); return array_copy(NULL, 0, 0, to, pitch, a, x, y, NULL, 0, width, height, NULL); }
API(cudaError_t) cudaMemcpy2DArrayToArray(CUarray to, size_t tx, size_t ty, CUarray from, size_t fx, size_t fy, size_t width, size_t height, int kind) { BEGIN(); return array_copy(to, tx, ty, NULL, 0, from, fx, fy, NULL, 0, width, height, NULL); }
// A run of bytes that may go over the ends of rows, which are side by side.
static cudaError_t line(CUarray a, size_t x, size_t y, void *p, size_t n, bool to) {
  struct array3d_descriptor d;
  size_t texel;
  DRIVER(cuArray3DGetDescriptor_v2(&d, a));
  cudaError_t wrong = texel_of(a, &texel);
  for (size_t row = d.width * texel; n && !wrong; y++, x = 0) {
    size_t part = n < row - x ? n : row - x;
    wrong = to ? array_copy(a, x, y, NULL, 0, NULL, 0, 0, p, part, part, 1, NULL) : array_copy(NULL, 0, 0, p, part, a, x, y, NULL, 0, part, 1, NULL);
    p = (char *)p + part, n -= part;
  }
  return wrong;
}
API(cudaError_t) cudaMemcpyToArray(CUarray a, size_t x, size_t y, const void *p, size_t n, int kind) { BEGIN(); return line(a, x, y, (void *)p, n, true); }
API(cudaError_t) cudaMemcpyFromArray(void *p, CUarray a, size_t x, size_t y, size_t n, int kind) { BEGIN(); return line(a, x, y, p, n, false); }

// ---- objects
struct resource {  // cudaResourceDesc
  int type;
  union {
    CUarray array;
    struct { void *at; struct channels channels; size_t size; } linear;
    struct { void *at; struct channels channels; size_t width, height, pitch; } pitched;
    int reserved[32];
  } is;
  unsigned flags;
};
struct texture { int mode[3], filter, read, srgb; float border[4]; int normalized; unsigned anisotropy; int mip_filter; float bias, least, most; int trilinear, seamless; };
CUresult cuTexObjectCreate(uint64_t *, const struct driver_resource *, const struct driver_texture *, const void *), cuTexObjectDestroy(uint64_t);
CUresult cuSurfObjectCreate(uint64_t *, const struct driver_resource *), cuSurfObjectDestroy(uint64_t);
static bool driver_resource(const struct resource *r, struct driver_resource *d) {
  memset(d, 0, sizeof *d);
  d->type = r->type;
  if (r->type == 0) {
    d->is.array = r->is.array;
  } else if (r->type == 2) {
    d->is.linear.at = (CUdeviceptr)r->is.linear.at, d->is.linear.size = r->is.linear.size;
    return format_of(&r->is.linear.channels, &d->is.linear.format, &d->is.linear.channels);
  } else if (r->type == 3) {
    d->is.pitched.at = (CUdeviceptr)r->is.pitched.at, d->is.pitched.width = r->is.pitched.width;
    d->is.pitched.height = r->is.pitched.height, d->is.pitched.pitch = r->is.pitched.pitch;
    return format_of(&r->is.pitched.channels, &d->is.pitched.format, &d->is.pitched.channels);
  }
  return true;
}
API(cudaError_t) cudaCreateTextureObject(uint64_t *out, const struct resource *r, const struct texture *t, const void *view) {
  struct driver_resource d;
  BEGIN();
  if (!out || !r || !t) return simt_fail(cudaErrorInvalidValue);
  if (!driver_resource(r, &d)) return simt_runtime_unsupported(__func__);
  struct driver_texture made = {.filter = t->filter, .flags = (t->read ? 0 : 1) | (t->normalized ? 2 : 0) | (t->srgb ? 0x10 : 0) | (t->seamless ? 0x20 : 0)};
  memcpy(made.mode, t->mode, sizeof made.mode), memcpy(made.border, t->border, sizeof made.border);
  return simt_end(cuTexObjectCreate(out, &d, &made, view));
}
API(cudaError_t) cudaDestroyTextureObject(uint64_t handle) { BEGIN(); return simt_end(cuTexObjectDestroy(handle)); }
API(cudaError_t) cudaCreateSurfaceObject(uint64_t *out, const struct resource *r) {
  struct driver_resource d;
  BEGIN();
  if (!out || !r || !driver_resource(r, &d)) return simt_fail(cudaErrorInvalidValue);
  return simt_end(cuSurfObjectCreate(out, &d));
}
API(cudaError_t) cudaDestroySurfaceObject(uint64_t handle) { BEGIN(); return simt_end(cuSurfObjectDestroy(handle)); }
