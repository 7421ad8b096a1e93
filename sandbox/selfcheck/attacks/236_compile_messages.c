// attack: compile_messages
// threat: output (compile step)
// expect: CONTAINED: error messages without end are cut
// status: compile_error
#define A x x x x x x x x x x
#define B A A A A A A A A A A
#define C B B B B B B B B B B
#define D C C C C C C C C C C
int main(void) { D D D D D D D D; }
