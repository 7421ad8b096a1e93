// attack: compile_include
// threat: fs (compile step)
// expect: CONTAINED: the compiler sees no more files than the program would
// status: compile_error
#include "/etc/shadow"
#include "/proc/self/environ"
#include "/proc/1/environ"
#include "/etc/machine-id"
#include "/tmp/canary.sock"
int main(void) { return 0; }
