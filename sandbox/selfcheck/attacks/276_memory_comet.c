// attack: memory_comet
// threat: memory
// expect: CONTAINED: memory of processes that fork and die all the time counts against the job
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
int main(void) {
    int ends[2];
    if (pipe(ends)) return 1;
    for (int n = 0; n < 5; n++) if (fork() == 0) {
        size_t size = 150 << 20;
        volatile char *block = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t at = 0; at < size; at += 4096) {
            block[at] = 1;
            if (at % (4 << 20) == 0 && fork() > 0) _exit(0);
        }
        double end = now() + 0.7;
        while (now() < end) if (fork() > 0) _exit(0);
        if (write(ends[1], "x", 1) < 0) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    int held = 0;
    char c;
    while (read(ends[0], &c, 1) == 1) held++;
    printf("%s %d of 5 lines held 150 MiB each\n", held == 5 ? "ESCAPED" : "CONTAINED", held);
}
