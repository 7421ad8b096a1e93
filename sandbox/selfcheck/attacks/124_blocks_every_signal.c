// attack: blocks_every_signal
// threat: lifetime
// expect: CONTAINED: killed although every signal is blocked and caught
// status: time_limit
// wall: 2
#include <signal.h>
#include <unistd.h>
static void again(int n) { (void)n; }
int main(void) {
    sigset_t all;
    sigfillset(&all);
    for (int n = 1; n < 65; n++) signal(n, again);
    sigprocmask(SIG_SETMASK, &all, 0);
    for (;;) pause();
}
