// What the files of libcudart.so share.  It stands on the driver API alone.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "errors.h"

typedef int cudaError_t;
typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUarray, *cudaStream_t, *cudaEvent_t;
typedef struct { unsigned x, y, z; } dim3;

cudaError_t simt_begin_runtime(void);
cudaError_t simt_end(CUresult result);  // the runtime's code of the driver's, kept as the thread's last error
cudaError_t simt_fail(cudaError_t error);
int simt_runtime_unsupported(const char *name);
cudaError_t simt_function(CUfunction *out, const void *host);
cudaError_t simt_managed_variables(void);

#define BEGIN()                                      \
  ENTER();                                           \
  {                                                  \
    cudaError_t begun_ = simt_begin_runtime();       \
    if (begun_) return begun_;                       \
  }
#define DRIVER(call)                                 \
  {                                                  \
    cudaError_t driver_ = simt_end(call);            \
    if (driver_) return driver_;                     \
  }
#define FUNCTION(f, host)                            \
  CUfunction f;                                      \
  {                                                  \
    cudaError_t found_ = simt_function(&f, host);    \
    if (found_) return simt_fail(found_);            \
  }
