// attack: vfork_bomb
// threat: pids
// expect: CONTAINED: vfork counts like fork, and a parent that waits in vfork is killed like any other
// status: time_limit, signal, nonzero_exit, ok
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
static int depth;
static void dive(void) {
    if (depth > 3000) { dprintf(1, "ESCAPED %d deep\n", depth); for (;;) pause(); }
    depth++;
    pid_t pid = vfork();
    if (pid == 0) dive();
    if (pid < 0) dprintf(1, "CONTAINED errno %d at %d\n", errno, depth);
    for (;;) pause();
}
int main(void) { dive(); }
