// attack: children_of_threads
// threat: lifetime
// expect: CONTAINED: children that threads have made, of processes without a first thread, end with the job
// oracle: no process is left 1 s after the verdict
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void *make(void *x) {
    if (fork() == 0) {
        setsid();
        for (int n = 1; n < 65; n++) signal(n, SIG_IGN);
        for (;;) sleep(100);
    }
    sleep(100);
    return x;
}
int main(void) {
    if (fork() == 0) {
        pthread_t thread;
        setsid();
        pthread_create(&thread, 0, make, 0);
        pthread_exit(0);
    }
    usleep(200000);
    puts("main done");
    return 0;
}
