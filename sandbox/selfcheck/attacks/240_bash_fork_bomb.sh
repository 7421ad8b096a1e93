# attack: bash_fork_bomb
# threat: pids
# expect: CONTAINED: the shell's classic stops at the limit of processes and ends with the job
# oracle: no process is left 1 s after the verdict
# wall: 2
bomb() { bomb | bomb & }
bomb
sleep 60
