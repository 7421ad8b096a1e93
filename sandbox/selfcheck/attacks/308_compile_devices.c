// attack: compile_devices
// threat: time
// expect: CONTAINED: a compiler that reads an endless device is stopped
// status: compile_error
#include "/dev/zero"
int main(void){return 0;}
