// attack: earlier_pages
// threat: info
// expect: CONTAINED: fresh memory, stack, heap, pipes and files hold nothing of earlier jobs
// oracle: the harness first runs a job that fills memory, files and pipes with a secret
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static const char *search(const char *data, size_t size) {
    char needle[32] = "CANARY_JOB";
    strcat(needle, "_SECRET=42");
    return memmem(data, size, needle, strlen(needle));
}
int main(void) {
    size_t size = 128 << 20;
    const char *what = 0;
    char *map = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map != MAP_FAILED && search(map, size)) what = "fresh mapping";
    char *heap = malloc(32 << 20);
    if (heap && search(heap, 32 << 20)) what = "heap";
    int fd = open("hole", O_CREAT | O_RDWR, 0600);
    if (fd >= 0 && ftruncate(fd, 16 << 20) == 0) {
        char *hole = mmap(0, 16 << 20, PROT_READ, MAP_SHARED, fd, 0);
        if (hole != MAP_FAILED && search(hole, 16 << 20)) what = "hole in a file";
    }
    char stack[1 << 18];
    if (search(stack, sizeof stack)) what = "stack";
    printf("%s %s\n", what ? "ESCAPED" : "CONTAINED", what ? what : "");
}
