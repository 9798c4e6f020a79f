// How the driver API describes textures and surfaces: the runtime translates its own descriptions into these.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct driver_resource {  // CUDA_RESOURCE_DESC
  int type, pad;          // CUresourcetype: array, mipmapped array, linear, pitched
  union {
    void *array;
    struct { uint64_t at; unsigned format, channels; size_t size; } linear;
    struct { uint64_t at; unsigned format, channels; size_t width, height, pitch; } pitched;
    int reserved[32];
  } is;
  unsigned flags;
};
struct driver_texture {  // CUDA_TEXTURE_DESC
  int mode[3], filter;
  unsigned flags, anisotropy;
  int mip_filter;
  float bias, least, most, border[4];
  int reserved[12];
};
