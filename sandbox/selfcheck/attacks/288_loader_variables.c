// attack: loader_variables
// threat: lifetime
// expect: CONTAINED: files and variables that steer the dynamic loader do not reach the next job
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    const char *names[] = { "/etc/ld.so.preload", "/etc/ld.so.conf.d/x.conf", "/tmp/libc.so.6", "libc.so.6", "/tmp/ld.so.preload" };
    for (int n = 0; n < 5; n++) {
        FILE *file = fopen(names[n], "w");
        if (!file) continue;
        fputs("/tmp/evil.so\n", file);
        fclose(file);
        if (names[n][1] == 'e') printf("ESCAPED %s\n", names[n]);
    }
    puts(getenv("LD_PRELOAD") || getenv("LD_LIBRARY_PATH") ? "INFO loader variables are set" : "CONTAINED");
    return 0;
}
