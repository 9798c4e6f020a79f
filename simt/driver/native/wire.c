// The connection to the server that has the device: one socket, one request at a time.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "simt.h"

struct device device;
static enum { UNTRIED, READY_, FAILED, FORKED } state;
static int channel = -1;
static CUresult stuck;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;

void simt_say(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("simt: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
}

// ---- bytes
static int send_all(const void *data, size_t n) {
  for (const char *at = data; n;) {
    ssize_t k = send(channel, at, n, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return -1;
    at += k, n -= k;
  }
  return 0;
}
static int receive_all(void *data, size_t n) {
  for (char *at = data; n;) {
    ssize_t k = recv(channel, at, n, 0);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return -1;
    at += k, n -= k;
  }
  return 0;
}
static CUresult lost(void) {
  if (channel >= 0) {
    close(channel);
    channel = -1;
    simt_say("the simulator has ended, and with it the device: every CUDA call fails from now on");
  }
  return stuck = CUDA_ERROR_DEVICE_UNAVAILABLE;
}
static int send_request(int op, const void *request, size_t size, const void *tail, size_t tail_size) {
  uint32_t head[2] = {op, (uint32_t)(size + tail_size)};
  return send_all(head, sizeof head) || send_all(request, size) || send_all(tail, tail_size);
}

// ---- notes: calls, copies and stubs, which need no answer; they go before the next request
static char notes[1 << 16];
static size_t noted;
static __thread int depth;

static void flush_notes(void) {
  if (noted && channel >= 0 && send_request(OP_NOTE, notes, noted, NULL, 0)) lost();
  if (channel >= 0 || state != UNTRIED) noted = 0;
}
static void note(const char *format, ...) {
  char line[512];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (n < 0 || (size_t)n >= sizeof line) return;
  pthread_mutex_lock(&lock);
  if (noted + n > sizeof notes) flush_notes();
  if (noted + n <= sizeof notes) memcpy(notes + noted, line, n), noted += n;
  pthread_mutex_unlock(&lock);
}
static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}
struct simt_call simt_enter(const char *name) {
  return (struct simt_call){depth++ ? NULL : name, nanoseconds()};
}
void simt_leave(struct simt_call *call) {
  depth--;
  if (call->name) note("call %s %llu %llu\n", call->name, (unsigned long long)call->start, (unsigned long long)(nanoseconds() - call->start));
}
int simt_unsupported(const char *name) {
  simt_begin();  // so that there is somebody to tell
  note("stub %s\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}
void simt_note_copy(const char *kind, unsigned stream, struct block to, struct block from, size_t width, size_t height, size_t depth) {
  note("copy %s %u %zu %zu %zu %llu %zu %zu %llu %zu %zu\n", kind, stream, width, height, depth, (unsigned long long)to.at, to.pitch, to.height,
       (unsigned long long)from.at, from.pitch, from.height);
}
void simt_note_beyond(const char *does, uint64_t at, size_t size) {
  note("beyond %s %llu %zu\n", does, (unsigned long long)at, size);
}
void simt_note_refused(const void *kernel, const unsigned *grid, const unsigned *block, size_t shared, size_t most) {
  note("refused %u %u %u %u %u %u %u %zu %zu\n", ((const struct function *)kernel)->is.function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, most);
}

// ---- requests
CUresult simt_ask(int op, const void *request, size_t size, const void *tail, size_t tail_size, void *reply,
                  size_t reply_size, struct answer *rest) {
  struct { int32_t code; uint32_t size; } head;
  if (rest) *rest = (struct answer){NULL, 0};
  if (size + tail_size > UINT32_MAX) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  flush_notes();
  CUresult result = stuck;
  if (channel < 0) {
    result = stuck ? stuck : CUDA_ERROR_NOT_INITIALIZED;
  } else if (send_request(op, request, size, tail, tail_size) || receive_all(&head, sizeof head)) {
    result = lost();
  } else {
    char *bytes = malloc(head.size + 1);
    if (!bytes || receive_all(bytes, head.size)) {
      result = lost();
    } else {
      result = head.code;
      size_t fields = head.size < reply_size ? head.size : reply_size;
      if (reply) memcpy(reply, bytes, fields);
      if (rest && head.size > fields) {
        memmove(bytes, bytes + fields, head.size - fields);
        bytes[head.size - fields] = 0;
        *rest = (struct answer){bytes, head.size - fields};
        bytes = NULL;
      }
    }
    free(bytes);
  }
  pthread_mutex_unlock(&lock);
  return result;
}
// For what runs in the program itself (simt/driver/python_program.py): a message as it is.
API(CUresult) simt_send(int op, const void *bytes, size_t size) {
  CUresult begun = simt_begin();
  return begun ? begun : simt_ask(op, bytes, size, NULL, 0, NULL, 0, NULL);
}
CUresult simt_state(void) { return stuck; }
void simt_stick(CUresult error) { stuck = error; }
void simt_reset(void) {
  if (channel >= 0) stuck = 0;
}
double simt_now(void) { return device.timed ? device.clock : nanoseconds() * 1e-9; }

// ---- the beginning
static int connect_to(const char *name) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};  // an abstract name: no file stays behind
  size_t n = strlen(name);
  if (n >= sizeof to.sun_path) return -1;
  memcpy(to.sun_path + 1, name, n);
  int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made >= 0 && connect(made, (struct sockaddr *)&to, offsetof(struct sockaddr_un, sun_path) + 1 + n)) {
    close(made);
    made = -1;
  }
  return made;
}
// A server of this process's own.  It is no child of it, which the program might wait for.
static int start_server(const char *python) {
  int ends[2], status;
  char number[16];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return -1;
  snprintf(number, sizeof number, "%d", ends[1]);
  char *command[] = {(char *)python, "-m", "simt.driver", number, NULL};
  pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      fcntl(ends[1], F_SETFD, 0);
      unsetenv("LD_PRELOAD");
      execvp(python, command);
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, &status, 0);
  close(ends[1]);
  return ends[0];
}
static int receive_file(void) {
  char byte, room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  int file = -1;
  if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}
static void in_child(void) {  // a forked process has no part in its parent's device
  pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  memcpy(&lock, &fresh, sizeof fresh), memcpy(&starting, &fresh, sizeof fresh);
  noted = 0;
  if (channel >= 0) close(channel);
  channel = -1;
  if (state != UNTRIED) state = FORKED, stuck = CUDA_ERROR_NOT_INITIALIZED;
}
static CUresult map_memory(int file) {
  int shared = MAP_SHARED | MAP_NORESERVE;
  // Device pointers are addresses that nobody can follow here, until memory is allocated for the host, too.
  const char *view = getenv("SIMT_VIEW");  // in the source view kernels run in this process
  device.access = view && !strcmp(view, "source") ? PROT_READ | PROT_WRITE : PROT_NONE;
  void *at = mmap((void *)device.base, device.size, device.access, shared | MAP_FIXED_NOREPLACE, file, 0);
  device.alias = mmap(NULL, device.size, PROT_READ | PROT_WRITE, shared, file, 0);
  int problem = errno;
  close(file);
  if (at != (void *)device.base || device.alias == MAP_FAILED) {
    simt_say("device memory cannot be mapped at %#llx: %s (see ulimit -v)", (unsigned long long)device.base, strerror(problem));
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  madvise(at, device.size, MADV_DONTFORK), madvise(at, device.size, MADV_DONTDUMP);
  madvise(device.alias, device.size, MADV_DONTFORK), madvise(device.alias, device.size, MADV_DONTDUMP);
  return CUDA_SUCCESS;
}
static CUresult start(void) {
  const char *name = getenv("SIMT_DRIVER"), *python = getenv("SIMT_PYTHON");
  channel = name && *name ? connect_to(name) : python && *python ? start_server(python) : -1;
  if (channel < 0) {
    if (name && *name) simt_say("there is no simulator at %s: did `simt exec` end?", name);
    else simt_say("this program uses the modelled GPU; run it with `simt exec`, or set the variables of `simt env`");
    return CUDA_ERROR_NO_DEVICE;
  }
  int file = receive_file();
  struct hello_request request = {getpid()};
  struct hello_reply reply;
  CUresult result = file < 0 ? lost() : ASK(OP_HELLO, &request, &reply);
  if (result) return result;
  device.base = reply.base, device.size = reply.size, device.memory = reply.memory, device.timed = reply.timed;
  memcpy(device.attributes, reply.attributes, sizeof device.attributes);
  memcpy(device.name, reply.name, sizeof device.name);
  device.name[sizeof device.name - 1] = 0;
  return map_memory(file);
}
CUresult simt_begin(void) {
  if (state == READY_) return CUDA_SUCCESS;
  static CUresult failed;
  pthread_mutex_lock(&starting);
  if (state == UNTRIED) {
    failed = start();
    state = failed ? FAILED : READY_;
  }
  CUresult result = state == READY_ ? CUDA_SUCCESS : state == FORKED ? CUDA_ERROR_NOT_INITIALIZED : failed;
  pthread_mutex_unlock(&starting);
  return result;
}
__attribute__((constructor)) static void loaded(void) { pthread_atfork(NULL, NULL, in_child); }
__attribute__((destructor)) static void unloaded(void) {
  if (channel >= 0 && simt_ask(OP_GOODBYE, NULL, 0, NULL, 0, NULL, 0, NULL) == CUDA_SUCCESS) close(channel);
  channel = -1;
}
