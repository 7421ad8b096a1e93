// attack: memory_unseen
// threat: memory
// expect: CONTAINED: processes that cannot be dumped count like any other
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void) {
    int ends[2];
    if (pipe(ends)) return 1;
    for (int n = 0; n < 5; n++) if (fork() == 0) {
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        setsid();
        size_t size = 150 << 20;
        volatile char *block = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) _exit(1);
        for (size_t at = 0; at < size; at += 4096) block[at] = 1;
        usleep(700000);
        if (write(ends[1], "x", 1) < 0) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    int held = 0;
    char c;
    while (read(ends[0], &c, 1) == 1) held++;
    printf("%s %d of 5 held 150 MiB each\n", held == 5 ? "ESCAPED" : "CONTAINED", held);
}
