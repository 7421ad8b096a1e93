// attack: cpu_in_kernel
// threat: cpu
// expect: CONTAINED: time that the kernel spends on unmapping, copying and reclaiming for the job counts as its own
// status: time_limit
// cpu: 0.5
// wall: 10
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  time_t end = time(0) + 9;
  while (time(0) < end) {
    pid_t p = fork();
    if (p == 0) { for (int i = 0; i < 40; i++) { char *m = mmap(0, 64 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0); if (m != MAP_FAILED) munmap(m, 64 << 20); } _exit(0); }
    if (p > 0) waitpid(p, 0, 0);
  }
  puts("ESCAPED ran to the end"); return 0;
}
