/*
 * A disk that takes its time, for LD_PRELOAD: what it does to fsync and fdatasync is said by the environment.
 *   SLOW_SYNC_MS      milliseconds that each waits before the real call
 *   SLOW_SYNC_HOLD    while this file exists, they wait
 *   SLOW_SYNC_ONLY    and only those of files in whose path this word stands
 *   SLOW_SYNC_COUNT   a file of two native 32-bit numbers: syncs under way, and the most that ever were
 *
 *   cc -shared -fPIC -O2 -o slow-syncs.so slow-syncs.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Atomic int nowhere[2];
static _Atomic int *counts = nowhere;

__attribute__((constructor)) static void open_counts(void) {
  const char *path = getenv("SLOW_SYNC_COUNT");
  int file = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (ftruncate(file, sizeof nowhere) == 0) {
    void *shared = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) counts = shared;
  }
  close(file);
}

static int is_meant(int fd) {
  const char *only = getenv("SLOW_SYNC_ONLY");
  char link[64], path[4096];
  if (only == NULL) return 1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, only) != NULL;
}

static void pause_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static int slowly(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  if (!is_meant(fd)) return real(fd);
  int now = ++counts[0];
  for (int most = counts[1]; now > most && !__atomic_compare_exchange_n((int *)&counts[1], &most, now, 0, 5, 5);) {
  }
  const char *ms = getenv("SLOW_SYNC_MS"), *hold = getenv("SLOW_SYNC_HOLD");
  if (ms != NULL) pause_ms(atol(ms));
  while (hold != NULL && access(hold, F_OK) == 0) pause_ms(2);
  int result = real(fd);
  counts[0]--;
  return result;
}

int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
