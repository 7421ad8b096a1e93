// attack: bss_and_stack
// threat: memory
// expect: CONTAINED: terabytes of zeroed data and a stack without end are refused or counted
#include <stdio.h>
#include <sys/resource.h>
static char big[1UL << 33];
static int deep(volatile char *p, int n) { volatile char b[65536]; b[0] = n; b[65535] = p ? p[0] : 0; return n > 200000 ? b[0] : deep(b, n + 1) + b[65535]; }
int main(void) {
  struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY}; setrlimit(RLIMIT_STACK, &r);
  for (unsigned long i = 0; i < sizeof big; i += 4096) big[i] = 1;
  printf("ESCAPED %d\n", deep(0, 0)); return 0;
}
