// attack: compile_incbin
// threat: fs (compile step)
// expect: CONTAINED: the assembler takes no file of the host into the program
// status: compile_error, ok
#include <stdio.h>
__asm__(".section .rodata\n.global taken\ntaken:\n.incbin \"/etc/passwd\"\n.byte 0\n.previous\n");
extern const char taken[];
int main(void) { fputs(taken, stdout); }
