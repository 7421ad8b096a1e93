// attack: threads_without_leader
// threat: cpu
// expect: CONTAINED: threads that outlive the first one burn no more processor time than the job may
// status: time_limit
// wall: 3
#include <pthread.h>
static void *burn(void *x) {
    for (volatile long n = 0;; n++) if (n < 0) return x;
}
int main(void) {
    for (int n = 0; n < 4; n++) {
        pthread_t thread;
        pthread_create(&thread, 0, burn, 0);
    }
    pthread_exit(0);
}
