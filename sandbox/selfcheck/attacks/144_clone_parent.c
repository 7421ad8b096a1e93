// attack: clone_parent
// threat: status
// expect: CONTAINED: a child that it gives to its own parent does not pass for the job itself
// status: nonzero_exit
// exit: 7
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    int made = 0;
    for (int n = 0; n < 200; n++) {
        long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
        if (pid == 0) _exit(0);
        made += pid > 0;
    }
    /* The last one outlives its maker. */
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) for (;;) pause();
    printf("made %d children of its parent\n", made);
    fflush(stdout);
    usleep(200000);
    _exit(7);
}
