// attack: cpu_in_exit
// threat: cpu
// expect: CONTAINED: processor time in exit and exec of children counts
// status: time_limit
// cpu: 0.5
// wall: 10
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int main(int c,char**v){ if(c>1){ _exit(0);} struct sigaction a; memset(&a,0,sizeof a); a.sa_handler=SIG_DFL; a.sa_flags=SA_NOCLDWAIT; sigaction(SIGCHLD,&a,0);
 time_t end=time(0)+9; while(time(0)<end){ pid_t p=fork(); if(p==0){ char*m=mmap(0,48<<20,3,MAP_PRIVATE|MAP_ANONYMOUS|MAP_POPULATE,-1,0); (void)m; execl("/proc/self/exe","x","1",(char*)0); _exit(0);} if(p<0) usleep(1000);} puts("ESCAPED ran to the end"); }
