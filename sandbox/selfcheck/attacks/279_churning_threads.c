// attack: churning_threads
// threat: memory
// expect: CONTAINED: threads that come and go do not hide the children of their process from who counts memory
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static int ends[2];
static void *gone(void *x) { return x; }
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
int main(void) {
    if (pipe(ends)) return 1;
    for (int n = 0; n < 5; n++) if (fork() == 0) {
        size_t size = 150 << 20;
        volatile char *block = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) _exit(1);
        for (size_t at = 0; at < size; at += 4096) block[at] = 1;
        usleep(700000);
        if (write(ends[1], "x", 1) < 0) _exit(1);
        _exit(0);
    }
    double end = now() + 1.5;
    while (now() < end) {
        pthread_t threads[4];
        for (int n = 0; n < 4; n++) if (pthread_create(&threads[n], 0, gone, 0)) threads[n] = 0;
        for (int n = 0; n < 4; n++) if (threads[n]) pthread_join(threads[n], 0);
    }
    close(ends[1]);
    int held = 0;
    char c;
    while (read(ends[0], &c, 1) == 1) held++;
    printf("%s %d of 5 held 150 MiB each\n", held == 5 ? "ESCAPED" : "CONTAINED", held);
}
