#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *same(void *value) { return value; }

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, same, NULL) || pthread_join(thread, NULL)) return 1;
    FILE *child = popen("echo child", "r");
    char line[16];
    if (!child || !fgets(line, sizeof line, child) || pclose(child)) return 2;
    FILE *file = tmpfile();
    if (!file) return 3;
    fclose(file);
    free(malloc(64 << 20));
    puts("done");
    return 0;
}
