// attack: unmapped_zero_device
// threat: memory
// expect: CONTAINED: shared mappings of /dev/zero, which are memory too, count against the job
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    int fd = open("/dev/zero", O_RDWR);
    size_t step = 64 << 20, total = 0;
    while (total < (size_t)640 << 20) {
        volatile char *block = mmap(0, step, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (block == MAP_FAILED) { printf("CONTAINED errno %d at %zu MiB\n", errno, total >> 20); return 0; }
        for (size_t at = 0; at < step; at += 4096) block[at] = 1;
        munmap((void *)(block + 4096), step - 4096);
        total += step;
    }
    usleep(100000);
    printf("ESCAPED %zu MiB that no process shows\n", total >> 20);
}
