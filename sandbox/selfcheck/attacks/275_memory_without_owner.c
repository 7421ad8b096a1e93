// attack: memory_without_owner
// threat: status
// expect: CONTAINED: where no process of the job is large, running out of memory kills the job, not its keeper
// status: memory_limit, signal, nonzero_exit, time_limit, ok
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY);
    if (fd >= 0 && write(fd, "0", 1) == 1) dprintf(1, "INFO no sooner killed than others\n");
    for (int n = 0; n < 6; n++) if (fork() == 0) break;
    for (int n = 0; n < 200; n++) {
        size_t step = 8 << 20;
        volatile char *block = mmap(0, step, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) break;
        for (size_t at = 0; at < step; at += 4096) block[at] = 1;
        munmap((void *)(block + 4096), step - 4096);
    }
    usleep(500000);
}
