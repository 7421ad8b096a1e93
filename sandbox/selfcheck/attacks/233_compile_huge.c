// attack: compile_huge
// threat: disk (compile step)
// expect: CONTAINED: a program of a few lines that becomes gigabytes meets the compiler's limits
// status: compile_error
char huge[1L << 31] = { 1 };
char more[1L << 31] = { 1 };
int main(void) { return huge[1] + more[1]; }
