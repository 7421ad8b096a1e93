// attack: own_binary
// threat: lifetime
// expect: CONTAINED: a program that replaces its own executable file does not replace the cached one
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
    const char *names[] = { argv[0], "main", "./a.out", "program", "/tmp/main" };
    for (int n = 0; n < 5; n++) {
        chmod(names[n], 0755);
        FILE *file = fopen(names[n], "w");
        if (!file && unlink(names[n]) == 0) file = fopen(names[n], "w");
        if (file) { fputs("#!/bin/sh\necho ESCAPED poisoned\n", file); fclose(file); chmod(names[n], 0755); }
    }
    puts("CONTAINED the true one ran");
    return argc == 0;
}
// then: again
