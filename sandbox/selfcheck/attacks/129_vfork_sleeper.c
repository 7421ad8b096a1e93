// attack: vfork_sleeper
// threat: lifetime
// expect: CONTAINED: a parent that waits in vfork for a child that sleeps is killed at the wall limit
// status: time_limit
// wall: 2
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>
int main(void) {
    for (int n = 1; n < 65; n++) signal(n, SIG_IGN);
    if (vfork() == 0) {
        setsid();
        for (;;) sleep(1000);
    }
    return 0;
}
