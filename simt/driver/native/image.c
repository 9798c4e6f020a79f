// Arrays, textures and surfaces.  An array is rows of texels in device memory.
#include "objects.h"
#include "simt.h"

// ---- arrays
struct array_descriptor { size_t width, height; unsigned format, channels; };
struct array3d_descriptor { size_t width, height, depth; unsigned format, channels, flags; };
enum { LAYERED = 1, CUBEMAP = 4, FACES = 6 };
static size_t component(unsigned format) {  // CUarray_format: unsigned and signed of 8, 16, 32 bits, half, float
  switch (format) {
    case 0x01: case 0x08: return 1;
    case 0x02: case 0x09: case 0x10: return 2;
    case 0x03: case 0x0a: case 0x20: return 4;
  }
  return 0;
}
static CUresult make(CUarray *out, struct array3d_descriptor d) {
  if (!out || !d.width || (d.channels != 1 && d.channels != 2 && d.channels != 4)) return CUDA_ERROR_INVALID_VALUE;
  if (!component(d.format)) return simt_unsupported("cuArray3DCreate of this format");
  if (d.flags & CUBEMAP && (d.width != d.height || !d.depth || (d.flags & LAYERED ? d.depth % FACES : d.depth != FACES))) return CUDA_ERROR_INVALID_VALUE;
  struct array *made = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  *made = (struct array){0, d.width, d.height, d.depth, d.format, d.channels, d.flags, component(d.format) * d.channels, 0};
  made->pitch = made->texel * d.width;
  CUresult result = simt_allocate(&made->address, made->pitch * (d.height ? d.height : 1) * (d.depth ? d.depth : 1), DEVICE);
  if (result) free(made);
  else *out = made;
  return result;
}
struct block simt_array_block(CUarray a, size_t x, size_t y, size_t z) {
  size_t height = a->height ? a->height : 1;
  return (struct block){a->address + x + (z * height + y) * a->pitch, a->pitch, height};
}
CUresult cuMemFree_v2(CUdeviceptr address);
API(CUresult) cuArrayCreate_v2(CUarray *out, const struct array_descriptor *d) { READY(); return make(out, (struct array3d_descriptor){d->width, d->height, 0, d->format, d->channels, 0}); }
API(CUresult) cuArray3DCreate_v2(CUarray *out, const struct array3d_descriptor *d) { READY(); return make(out, *d); }
API(CUresult) cuArrayGetDescriptor_v2(struct array_descriptor *d, CUarray a) { READY(); *d = (struct array_descriptor){a->width, a->height, a->format, a->channels}; return CUDA_SUCCESS; }
API(CUresult) cuArray3DGetDescriptor_v2(struct array3d_descriptor *d, CUarray a) {
  READY();
  *d = (struct array3d_descriptor){a->width, a->height, a->depth, a->format, a->channels, a->flags};
  return CUDA_SUCCESS;
}
API(CUresult) cuArrayDestroy(CUarray a) {
  READY();
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = cuMemFree_v2(a->address);
  free(a);
  return result;
}

// ---- copies with arrays
enum { HOST_ = 1, DEVICE_, ARRAY_, UNIFIED_ };  // CUmemorytype
static struct block side(int type, const void *host, CUdeviceptr at, CUarray array, size_t x, size_t y, size_t z, size_t pitch, size_t height) {
  if (type == ARRAY_) return simt_array_block(array, x, y, z);
  uint64_t start = type == HOST_ ? (uint64_t)host : at;
  return (struct block){start + x + (z * height + y) * pitch, pitch, height};
}
struct memcpy2d {
  size_t from_x, from_y; int from_type; const void *from_host; CUdeviceptr from; CUarray from_array; size_t from_pitch;
  size_t to_x, to_y; int to_type; void *to_host; CUdeviceptr to; CUarray to_array; size_t to_pitch;
  size_t width, height;
};
struct memcpy3d {
  size_t from_x, from_y, from_z, from_lod; int from_type; const void *from_host; CUdeviceptr from; CUarray from_array; void *r0; size_t from_pitch, from_height;
  size_t to_x, to_y, to_z, to_lod; int to_type; void *to_host; CUdeviceptr to; CUarray to_array; void *r1; size_t to_pitch, to_height;
  size_t width, height, depth;
};
static CUresult copy2d(const struct memcpy2d *c, CUstream s) {
  struct block from = side(c->from_type, c->from_host, c->from, c->from_array, c->from_x, c->from_y, 0, c->from_pitch ? c->from_pitch : c->width, 1);
  struct block to = side(c->to_type, c->to_host, c->to, c->to_array, c->to_x, c->to_y, 0, c->to_pitch ? c->to_pitch : c->width, 1);
  return simt_copy(to, from, c->width, c->height, 1, s);
}
static CUresult copy3d(const struct memcpy3d *c, CUstream s) {
  struct block from = side(c->from_type, c->from_host, c->from, c->from_array, c->from_x, c->from_y, c->from_z, c->from_pitch ? c->from_pitch : c->width, c->from_height ? c->from_height : c->height);
  struct block to = side(c->to_type, c->to_host, c->to, c->to_array, c->to_x, c->to_y, c->to_z, c->to_pitch ? c->to_pitch : c->width, c->to_height ? c->to_height : c->height);
  return simt_copy(to, from, c->width, c->height, c->depth, s);
}
API(CUresult) cuMemcpy2D_v2(const struct memcpy2d *c) { READY(); return copy2d(c, NULL); }
API(CUresult) cuMemcpy2DUnaligned_v2(const struct memcpy2d *c) { READY(); return copy2d(c, NULL); }
API(CUresult) cuMemcpy2DAsync_v2(const struct memcpy2d *c, CUstream s) { READY(); return copy2d(c, s); }
API(CUresult) cuMemcpy3D_v2(const struct memcpy3d *c) { READY(); return copy3d(c, NULL); }
API(CUresult) cuMemcpy3DAsync_v2(const struct memcpy3d *c, CUstream s) { READY(); return copy3d(c, s); }
static CUresult array_copy(CUarray a, size_t x, struct block other, size_t n, bool to, CUstream s) {
  if (!a || x + n > a->pitch) return CUDA_ERROR_INVALID_VALUE;
  struct block own = simt_array_block(a, x, 0, 0);
  return to ? simt_copy(own, other, n, 1, 1, s) : simt_copy(other, own, n, 1, 1, s);
}
#define LINE(p) ((struct block){(uint64_t)(p), n, 1})
API(CUresult) cuMemcpyHtoA_v2(CUarray a, size_t x, const void *p, size_t n) { READY(); return array_copy(a, x, LINE(p), n, true, NULL); }
API(CUresult) cuMemcpyDtoA_v2(CUarray a, size_t x, CUdeviceptr p, size_t n) { READY(); return array_copy(a, x, LINE(p), n, true, NULL); }
API(CUresult) cuMemcpyAtoH_v2(void *p, CUarray a, size_t x, size_t n) { READY(); return array_copy(a, x, LINE(p), n, false, NULL); }
API(CUresult) cuMemcpyAtoD_v2(CUdeviceptr p, CUarray a, size_t x, size_t n) { READY(); return array_copy(a, x, LINE(p), n, false, NULL); }

// ---- objects
enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10, SEAMLESS = 0x20 };
static CUresult object(uint64_t *out, const struct driver_resource *r, const struct driver_texture *t, const char *name) {
  struct image_request request = {.surface = !t};
  struct image_reply reply;
  if (!out || !r) return CUDA_ERROR_INVALID_VALUE;
  if (r->type == 0) {
    CUarray a = r->is.array;
    if (!a) return CUDA_ERROR_INVALID_HANDLE;
    request = (struct image_request){a->address, a->pitch, a->width, a->height, a->depth, a->flags & LAYERED, a->flags & CUBEMAP, a->format, a->channels, !t};
  } else if (r->type == 2) {
    size_t texel = component(r->is.linear.format) * r->is.linear.channels;
    if (!texel) return simt_unsupported(name);
    request = (struct image_request){r->is.linear.at, r->is.linear.size, r->is.linear.size / texel, 0, 0, 0, 0, r->is.linear.format, r->is.linear.channels, !t};
  } else if (r->type == 3) {
    request = (struct image_request){r->is.pitched.at, r->is.pitched.pitch, r->is.pitched.width, r->is.pitched.height, 0, 0, 0, r->is.pitched.format, r->is.pitched.channels, !t};
  } else {
    return simt_unsupported(name);
  }
  if (t) {
    if (t->flags & SRGB) return simt_unsupported(name);
    request.filter = t->filter, request.normalized = (t->flags & NORMALIZED) != 0, request.read = !(t->flags & AS_INTEGER), request.seamless = (t->flags & SEAMLESS) != 0;
    for (int k = 0; k < 3; k++) request.mode[k] = t->mode[k];
    for (int k = 0; k < 4; k++) request.border[k] = t->border[k];
  }
  TRY(ASK(OP_IMAGE, &request, &reply));
  *out = reply.handle;
  return CUDA_SUCCESS;
}
static CUresult drop(uint64_t handle) {
  struct drop_request request = {handle};
  return TELL(OP_DROP, &request);
}
API(CUresult) cuTexObjectCreate(uint64_t *out, const struct driver_resource *r, const struct driver_texture *t, const void *view) { READY(); return view ? simt_unsupported("cuTexObjectCreate with a view") : object(out, r, t, __func__); }
API(CUresult) cuTexObjectDestroy(uint64_t handle) { READY(); return drop(handle); }
API(CUresult) cuSurfObjectCreate(uint64_t *out, const struct driver_resource *r) { READY(); return object(out, r, NULL, __func__); }
API(CUresult) cuSurfObjectDestroy(uint64_t handle) { READY(); return drop(handle); }
