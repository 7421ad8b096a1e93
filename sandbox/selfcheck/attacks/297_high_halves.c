// attack: high_halves
// threat: filter
// expect: CONTAINED: numbers and arguments of system calls with bits in the upper half are not taken for others than the kernel takes them for
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <signal.h>
static long raw(long n, long a, long b, long c, long d, long e, long f) {
  long r; register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return r;
}
int main(void) {
  long hi = 1L << 32, bad = 0, r; int p[2]; pipe(p);
  static const int nrs[] = {165, 166, 272, 308, 101, 155, 161, 250, 248, 321, 298, 323, 425, 319};
  for (unsigned i = 0; i < sizeof nrs / sizeof *nrs; i++) { r = raw(hi | nrs[i], 0x10000000, 0, 0, 0, 0, 0); if (r >= 0 || (r != -ENOSYS && r != -EPERM && r != -EACCES)) { printf("INFO nr %d gives %ld\n", nrs[i], r); if (r >= 0) bad = 1; } }
  if ((r = raw(SYS_ioctl, 1, hi | TIOCSTI, (long)"x", 0, 0, 0)) >= 0) bad = 2;
  if ((r = raw(SYS_fcntl, p[0], hi | 1031, 1 << 20, 0, 0, 0)) >= 0) bad = 3;
  if ((r = raw(SYS_prctl, hi | 22, 2, 0, 0, 0, 0)) >= 0) bad = 4;
  if ((r = raw(SYS_clone, hi | 0x10000000 | SIGCHLD, 0, 0, 0, 0, 0)) >= 0) { if (r == 0) _exit(0); bad = 5; }
  if ((r = raw(SYS_personality, hi | 0x0040000, 0, 0, 0, 0, 0)) >= 0 && (raw(SYS_personality, 0xffffffff, 0, 0, 0, 0, 0) & 0x0040000)) bad = 6;
  if ((r = raw(SYS_socket, hi | 16, 3, 0, 0, 0, 0)) >= 0) bad = 7;
  if ((r = raw(SYS_socket, hi | 2, 3, 1, 0, 0, 0)) >= 0) bad = 8;
  if ((r = raw(SYS_prlimit64, hi | 1, 7, 0, (long)(char[16]){0}, 0, 0)) >= 0) bad = 9;
  if ((r = raw(SYS_mknod, (long)"/tmp/dev", hi | 0x2000 | 0666, (1 << 8) | 3, 0, 0, 0)) >= 0) bad = 10;
  if ((r = raw(SYS_mmap, 0, 2 << 20, 3, hi | 0x40022, -1, 0)) > 0) bad = 11;
  printf(bad ? "ESCAPED %ld\n" : "CONTAINED %ld\n", bad); return 0;
}
