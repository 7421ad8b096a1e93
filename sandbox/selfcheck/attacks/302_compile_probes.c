// attack: compile_probes
// threat: fs
// expect: CONTAINED: a compiler that asks for the host's files, its environment or other processes finds none
#include <stdio.h>
#if __has_include("/root/.bashrc") || __has_include("/srv/verigym/pyproject.toml") || __has_include("/etc/shadow") || __has_include("/proc/1/environ") || __has_include("/proc/kallsyms") || __has_include("/proc/sys/kernel/core_pattern") || __has_include("/home") || __has_include("/etc/machine-id")
#define SEEN 1
#else
#define SEEN 0
#endif
__asm__(".section .rodata\n.global envb\nenvb:\n.incbin \"/proc/self/environ\"\n.global enve\nenve:\n.byte 0\n.text\n");
extern const char envb[], enve[];
int main(void) {
  int bad = SEEN; long n = enve - envb;
  for (long i = 0; i < n; i++) if (n - i > 11 && !__builtin_memcmp(envb + i, "SBX_CANARY_", 11)) bad = 2;
  printf(bad ? "ESCAPED %d\n" : "CONTAINED %d\n", bad);
  for (long i = 0; i < n; i++) putchar(envb[i] ? envb[i] : ' ');
  puts(""); return 0;
}
