// attack: zombie_leader
// threat: memory
// expect: CONTAINED: memory counts although the first thread of each process has ended
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int ends[2];
static void *hold(void *x) {
    size_t size = 150 << 20;
    char *block = malloc(size);
    if (!block) _exit(1);
    for (size_t at = 0; at < size; at += 4096) ((volatile char *)block)[at] = 1;
    usleep(700000);
    if (write(ends[1], x ? "y" : "x", 1) < 0) _exit(1);
    _exit(0);
}
int main(void) {
    if (pipe(ends)) return 1;
    for (int n = 0; n < 5; n++) if (fork() == 0) {
        pthread_t thread;
        if (pthread_create(&thread, 0, hold, 0)) _exit(1);
        pthread_exit(0);
    }
    close(ends[1]);
    int held = 0;
    char c;
    while (read(ends[0], &c, 1) == 1) held++;
    printf("%s %d of 5 children held 150 MiB each\n", held == 5 ? "ESCAPED" : "CONTAINED", held);
}
