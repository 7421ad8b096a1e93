// attack: compat_mode
// threat: syscall
// expect: CONTAINED: 32-bit system calls from a 32-bit code segment are refused, or kill
// oracle: death by a signal counts as contained
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int main(void) {
#if defined(__x86_64__)
    /* Below 4 GiB: a far return into segment 0x23 runs socket(AF_UNIX, SOCK_STREAM, 0) by int 0x80, then a
       far jump into segment 0x33 runs movabs $label, %rcx; jmp *%rcx. */
    static const unsigned char narrow[] = {
        0xb8, 0x67, 0x01, 0, 0, 0xbb, 1, 0, 0, 0, 0xb9, 1, 0, 0, 0, 0x31, 0xd2, 0xcd, 0x80,
        0xea, 0x00, 0x01, 0x00, 0x20, 0x33, 0 };
    static const unsigned char wide[] = { 0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe1 };
    unsigned char *low = mmap((void *)0x20000000, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (low == MAP_FAILED) { puts("CONTAINED no memory that runs"); return 0; }
    memcpy(low, narrow, sizeof narrow);
    memcpy(low + 0x100, wide, sizeof wide);
    int result;
    __asm__ volatile(
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rax, 0x20000102\n\t"
        "movq %%rsp, 0x20000200\n\t"
        "movq %%rbp, 0x20000208\n\t"
        "movl $0x2000f000, %%esp\n\t"
        "pushq $0x23\n\t"
        "pushq $0x20000000\n\t"
        "lretq\n\t"
        "1: movq 0x20000200, %%rsp\n\t"
        "movq 0x20000208, %%rbp\n\t"
        : "=a"(result) : : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
    printf("%s %d\n", result >= 0 ? "ESCAPED i386 socket()" : "CONTAINED", result);
#else
    puts("CONTAINED no 32-bit mode on this processor");
#endif
}
