// attack: leader_gone_daemon
// threat: lifetime
// expect: CONTAINED: verdict within 1000 ms after main exit although a daemon without a first thread is left
// oracle: no process is left 1 s after the verdict
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void *stay(void *x) {
    (void)x;
    for (;;) sleep(100);
}
int main(void) {
    for (int n = 1; n < 65; n++) if (n != SIGCHLD) signal(n, SIG_IGN);
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            pthread_t thread;
            pthread_create(&thread, 0, stay, 0);
            pthread_exit(0);
        }
        _exit(0);
    }
    usleep(100000);
    puts("main done");
    return 0;
}
