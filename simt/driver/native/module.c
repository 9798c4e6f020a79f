// Modules and libraries, their functions and variables; the linker.
#include "simt.h"

void simt_forget_modules(void);
struct module { uint32_t number; struct function *functions; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ---- how large an image is: what nvcc puts around fat binaries, fat binaries, ELF files, else text with a zero
enum { WRAPPER = 0x466243b1, FAT_BINARY = 0xba55ed50 };
#define AT(TYPE, offset) (*(const TYPE *)(bytes + (offset)))
static size_t image_size(const void **image) {
  const unsigned char *bytes = *image;
  if (AT(uint32_t, 0) == WRAPPER) *image = bytes = AT(void *, 8);
  if (AT(uint32_t, 0) == FAT_BINARY) return AT(uint16_t, 6) + AT(uint64_t, 8);
  if (memcmp(bytes, "\177ELF", 4)) return strlen((const char *)bytes);
  size_t end = 0, tables[2] = {AT(uint64_t, 40) + (size_t)AT(uint16_t, 58) * AT(uint16_t, 60), AT(uint64_t, 32) + (size_t)AT(uint16_t, 54) * AT(uint16_t, 56)};
  for (int k = 0; k < AT(uint16_t, 60); k++) {  // sections that have bytes in the file may come last
    const unsigned char *section = bytes + AT(uint64_t, 40) + (size_t)k * AT(uint16_t, 58);
    size_t last = *(const uint64_t *)(section + 24) + *(const uint64_t *)(section + 32);
    if (*(const uint32_t *)(section + 4) != 8 && last > end) end = last;
  }
  for (int k = 0; k < 2; k++)
    if (tables[k] > end) end = tables[k];
  return end;
}
static CUresult load(CUmodule *module, const void *image) {
  struct load_reply reply;
  if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
  size_t size = image_size(&image);
  TRY(simt_ask(OP_LOAD, NULL, 0, image, size, &reply, sizeof reply, NULL));
  if (!(*module = calloc(1, sizeof **module))) return CUDA_ERROR_OUT_OF_MEMORY;
  (*module)->number = reply.module;
  return CUDA_SUCCESS;
}
static CUresult load_file(CUmodule *module, const char *path) {
  FILE *file = path ? fopen(path, "rb") : NULL;
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *bytes = calloc(1, size + 1);
  CUresult result = bytes && fread(bytes, 1, size, file) == (size_t)size ? load(module, bytes) : CUDA_ERROR_INVALID_IMAGE;
  free(bytes);
  fclose(file);
  return result;
}
static CUresult unload(CUmodule module) {
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  struct unload_request request = {module->number};
  simt_forget_modules();
  return TELL(OP_UNLOAD, &request);  // functions stay: programs hold their handles
}
API(CUresult) cuModuleLoadData(CUmodule *module, const void *image) { READY(); return load(module, image); }
API(CUresult) cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, int *options, void **values) { READY(); return load(module, image); }
API(CUresult) cuModuleLoadFatBinary(CUmodule *module, const void *image) { READY(); return load(module, image); }
API(CUresult) cuModuleLoad(CUmodule *module, const char *path) { READY(); return load_file(module, path); }
API(CUresult) cuModuleUnload(CUmodule module) { READY(); return unload(module); }
API(CUresult) cuModuleGetLoadingMode(int *mode) { BEGIN(); *mode = 2; return CUDA_SUCCESS; }  // lazy
API(CUresult) cuLibraryLoadData(CUmodule *library, const void *code, int *a, void **b, unsigned n, int *c, void **d, unsigned m) { READY(); return load(library, code); }
API(CUresult) cuLibraryLoadFromFile(CUmodule *library, const char *path, int *a, void **b, unsigned n, int *c, void **d, unsigned m) { READY(); return load_file(library, path); }
API(CUresult) cuLibraryUnload(CUmodule library) { READY(); return unload(library); }
API(CUresult) cuLibraryGetModule(CUmodule *module, CUmodule library) { READY(); *module = library; return CUDA_SUCCESS; }

// ---- functions; a kernel of a library is one, too
static CUresult find(CUfunction *out, CUmodule module, const char *name) {
  struct function *f;
  struct answer rest;
  if (!module || !name || !out) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  for (f = module->functions; f && strcmp(f->name, name); f = f->next) {}
  pthread_mutex_unlock(&lock);
  if (f) return *out = f, CUDA_SUCCESS;
  struct function_request request = {module->number};
  struct function_reply reply;
  TRY(simt_ask(OP_FUNCTION, &request, sizeof request, name, strlen(name), &reply, sizeof reply, &rest));
  if (!(f = calloc(1, sizeof *f))) return CUDA_ERROR_OUT_OF_MEMORY;
  f->module = module, f->name = strdup(name), f->is = reply, f->parameters = rest.bytes, f->carveout = -1;
  pthread_mutex_lock(&lock);
  f->next = module->functions, module->functions = f;
  pthread_mutex_unlock(&lock);
  *out = f;
  return CUDA_SUCCESS;
}
static CUresult count(unsigned *n, CUmodule module) {
  struct functions_request request = {module->number};
  struct functions_reply reply;
  TRY(ASK(OP_FUNCTIONS, &request, &reply));
  *n = reply.count;
  return CUDA_SUCCESS;
}
static CUresult enumerate(CUfunction *out, unsigned n, CUmodule module) {
  struct functions_request request = {module->number};
  struct functions_reply reply;
  struct answer rest;
  TRY(simt_ask(OP_FUNCTIONS, &request, sizeof request, NULL, 0, &reply, sizeof reply, &rest));
  CUresult result = CUDA_SUCCESS;
  const char *name = rest.bytes;
  for (unsigned k = 0; k < n && k < reply.count && !result; k++, name += strlen(name) + 1) result = find(out + k, module, name);
  free(rest.bytes);
  return result;
}
API(CUresult) cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name) { READY(); return find(f, module, name); }
API(CUresult) cuModuleGetFunctionCount(unsigned *n, CUmodule module) { READY(); return count(n, module); }
API(CUresult) cuModuleEnumerateFunctions(CUfunction *f, unsigned n, CUmodule module) { READY(); return enumerate(f, n, module); }
API(CUresult) cuLibraryGetKernel(CUfunction *f, CUmodule library, const char *name) { READY(); return find(f, library, name); }
API(CUresult) cuLibraryGetKernelCount(unsigned *n, CUmodule library) { READY(); return count(n, library); }
API(CUresult) cuLibraryEnumerateKernels(CUfunction *f, unsigned n, CUmodule library) { READY(); return enumerate(f, n, library); }
API(CUresult) cuKernelGetFunction(CUfunction *f, CUfunction kernel) { READY(); *f = kernel; return CUDA_SUCCESS; }
API(CUresult) cuKernelGetLibrary(CUmodule *library, CUfunction kernel) { READY(); *library = kernel->module; return CUDA_SUCCESS; }
API(CUresult) cuKernelGetName(const char **name, CUfunction f) { READY(); *name = f->name; return CUDA_SUCCESS; }
API(CUresult) cuFuncGetName(const char **name, CUfunction f) { READY(); *name = f->name; return CUDA_SUCCESS; }
API(CUresult) cuFuncGetModule(CUmodule *module, CUfunction f) { READY(); *module = f->module; return CUDA_SUCCESS; }
API(CUresult) cuFuncIsLoaded(int *state, CUfunction f) { READY(); *state = 1; return CUDA_SUCCESS; }
API(CUresult) cuFuncLoad(CUfunction f) { READY(); return CUDA_SUCCESS; }

// ---- variables
static CUresult variable(CUdeviceptr *address, size_t *size, CUmodule module, const char *name) {
  if (!module || !name) return CUDA_ERROR_INVALID_VALUE;
  struct variable_request request = {module->number};
  struct variable_reply reply;
  TRY(simt_ask(OP_VARIABLE, &request, sizeof request, name, strlen(name), &reply, sizeof reply, NULL));
  if (address) *address = reply.address;
  if (size) *size = reply.size;
  return CUDA_SUCCESS;
}
API(CUresult) cuModuleGetGlobal_v2(CUdeviceptr *a, size_t *n, CUmodule module, const char *name) { READY(); return variable(a, n, module, name); }
API(CUresult) cuLibraryGetGlobal(CUdeviceptr *a, size_t *n, CUmodule library, const char *name) { READY(); return variable(a, n, library, name); }
API(CUresult) cuLibraryGetManaged(CUdeviceptr *a, size_t *n, CUmodule library, const char *name) {
  READY();
  CUdeviceptr address;
  TRY(variable(&address, n, library, name));
  if (a) *a = address;
  return simt_share_variable(address);
}

// ---- attributes
static int numbers_of_device(int which) { return device.attributes[which]; }
enum { SHARED_PER_BLOCK = 8, SHARED_OPTIN = 97 };  // CUdevice_attribute
static CUresult attribute(int *value, int which, struct function *f) {
  if (!f || !value) return CUDA_ERROR_INVALID_HANDLE;
  switch (which) {  // CUfunction_attribute
    case 0: *value = f->is.threads; break;
    case 1: *value = f->is.shared; break;
    case 2: *value = f->is.constant; break;
    case 3: *value = f->is.local; break;
    case 4: *value = f->is.registers; break;
    case 5: case 6: *value = f->is.architecture; break;
    case 8: *value = f->dynamic ? f->dynamic : numbers_of_device(SHARED_PER_BLOCK) - (int)f->is.shared; break;
    case 9: *value = f->carveout; break;
    default: *value = 0;
  }
  return CUDA_SUCCESS;
}
static CUresult set_attribute(struct function *f, int which, int value) {
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  if (which == 8) {
    if (value < 0 || value + (int)f->is.shared > numbers_of_device(SHARED_OPTIN)) return CUDA_ERROR_INVALID_VALUE;
    f->dynamic = value;
  } else if (which == 9) {
    f->carveout = value;
  }
  return CUDA_SUCCESS;
}
API(CUresult) cuFuncGetAttribute(int *value, int which, CUfunction f) { READY(); return attribute(value, which, f); }
API(CUresult) cuKernelGetAttribute(int *value, int which, CUfunction f, CUdevice d) { READY(); return attribute(value, which, f); }
API(CUresult) cuFuncSetAttribute(CUfunction f, int which, int value) { READY(); return set_attribute(f, which, value); }
API(CUresult) cuKernelSetAttribute(int which, int value, CUfunction f, CUdevice d) { READY(); return set_attribute(f, which, value); }
API(CUresult) cuFuncSetCacheConfig(CUfunction f, int config) { READY(); return CUDA_SUCCESS; }
API(CUresult) cuKernelSetCacheConfig(CUfunction f, int config, CUdevice d) { READY(); return CUDA_SUCCESS; }
API(CUresult) cuFuncSetSharedMemConfig(CUfunction f, int config) { READY(); return CUDA_SUCCESS; }
static CUresult parameter(struct function *f, size_t k, size_t *offset, size_t *size) {
  if (!f || k >= f->is.parameters) return CUDA_ERROR_INVALID_VALUE;
  if (offset) *offset = f->parameters[k].offset;
  if (size) *size = f->parameters[k].size;
  return CUDA_SUCCESS;
}
API(CUresult) cuFuncGetParamInfo(CUfunction f, size_t k, size_t *offset, size_t *size) { READY(); return parameter(f, k, offset, size); }
API(CUresult) cuKernelGetParamInfo(CUfunction f, size_t k, size_t *offset, size_t *size) { READY(); return parameter(f, k, offset, size); }

// ---- the linker: all that it is given goes to the server in the end
enum { MAX_REGISTERS, ERROR_LOG = 5, ERROR_LOG_SIZE, OPTIMIZATION = 7 };  // CUjit_option
struct link { char *bytes; size_t size; struct answer cubin; struct link_request how; char *log; unsigned log_size; };
API(CUresult) cuLinkCreate_v2(unsigned n, int *options, void **values, struct link **state) {
  READY();
  struct link *made = *state = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->how.level = 4;
  for (unsigned k = 0; k < n; k++) {
    unsigned number = (uintptr_t)values[k];
    if (options[k] == MAX_REGISTERS) made->how.registers = number;
    if (options[k] == OPTIMIZATION) made->how.level = number;
    if (options[k] == ERROR_LOG) made->log = values[k];
    if (options[k] == ERROR_LOG_SIZE) made->log_size = number;
  }
  return CUDA_SUCCESS;
}
API(CUresult) cuLinkAddData_v2(struct link *state, int type, void *data, size_t size, const char *name, unsigned n, int *options, void **values) {
  READY();
  uint64_t head[2] = {type, size};
  char *bytes = realloc(state->bytes, state->size + sizeof head + size);
  if (!bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(bytes + state->size, head, sizeof head);
  memcpy(bytes + state->size + sizeof head, data, size);
  state->bytes = bytes, state->size += sizeof head + size;
  return CUDA_SUCCESS;
}
API(CUresult) cuLinkAddFile_v2(struct link *state, int type, const char *path, unsigned n, int *options, void **values) {
  READY();
  FILE *file = fopen(path, "rb");
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *bytes = malloc(size + 1);
  CUresult result = bytes && fread(bytes, 1, size, file) == (size_t)size ? cuLinkAddData_v2(state, type, bytes, size, path, 0, NULL, NULL) : CUDA_ERROR_INVALID_IMAGE;
  free(bytes);
  fclose(file);
  return result;
}
API(CUresult) cuLinkComplete(struct link *state, void **cubin, size_t *size) {
  READY();
  CUresult result = simt_ask(OP_LINK, &state->how, sizeof state->how, state->bytes, state->size, NULL, 0, &state->cubin);
  if (result) {
    if (state->log && state->log_size) snprintf(state->log, state->log_size, "%s", state->cubin.bytes ? (char *)state->cubin.bytes : "");
    return result;
  }
  *cubin = state->cubin.bytes;
  if (size) *size = state->cubin.size;
  return CUDA_SUCCESS;
}
API(CUresult) cuLinkDestroy(struct link *state) {
  ENTER();
  free(state->bytes), free(state->cubin.bytes), free(state);
  return CUDA_SUCCESS;
}
