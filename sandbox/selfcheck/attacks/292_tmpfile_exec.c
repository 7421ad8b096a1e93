// attack: tmpfile_exec
// threat: privilege
// expect: CONTAINED: an unnamed file, executed by descriptor with set-uid and set-gid bits, gives no right that the job had not
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <errno.h>
extern char **environ;
int main(int c, char **v) {
  if (c > 1) {
    uid_t r, e, s; getresuid(&r, &e, &s);
    char line[256]; FILE *f = fopen("/proc/self/status", "r"); int bad = 0;
    while (f && fgets(line, sizeof line, f)) if (!strncmp(line, "CapEff", 6) && strtoull(line + 7, 0, 16)) bad = 1;
    printf(bad || r != e || e != s ? "ESCAPED ids %d %d %d caps %d\n" : "CONTAINED ids %d %d %d caps %d\n", r, e, s, bad);
    return 0;
  }
  int in = open("/proc/self/exe", O_RDONLY), out = open("/tmp", O_TMPFILE | O_RDWR, 06777);
  if (out < 0) { printf("CONTAINED no tmpfile %d\n", errno); return 0; }
  char b[65536]; ssize_t n; while ((n = read(in, b, sizeof b)) > 0) if (write(out, b, n) != n) break;
  fchmod(out, 06777);
  char p[64]; snprintf(p, sizeof p, "/proc/self/fd/%d", out);
  int ro = open(p, O_RDONLY); close(out);
  char *a[] = {"x", "2", 0}; fflush(stdout);
  syscall(SYS_execveat, ro, "", a, environ, AT_EMPTY_PATH);
  printf("CONTAINED exec errno %d\n", errno); return 0;
}
