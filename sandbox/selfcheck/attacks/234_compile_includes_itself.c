// attack: compile_includes_itself
// threat: cpu (compile step)
// expect: CONTAINED: including itself twice at each of 200 levels meets the compiler's limits
// status: compile_error
#if __INCLUDE_LEVEL__ < 150
#include __FILE__
#include __FILE__
#endif
int main(void) { return 0; }
