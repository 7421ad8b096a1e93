// attack: compile_endless
// threat: cpu (compile step)
// expect: CONTAINED: a compiler that reads for ever meets its limits
// status: compile_error
#include "/dev/zero"
int main(void) { return 0; }
