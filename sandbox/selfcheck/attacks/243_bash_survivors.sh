# attack: bash_survivors
# threat: lifetime
# expect: CONTAINED: verdict within 1000 ms after main exit although nohup, disown and setsid left processes behind
# oracle: no process is left 1 s after the verdict
# status: ok
trap '' HUP INT TERM QUIT USR1 USR2 PIPE
nohup sleep 600 >/dev/null 2>&1 &
setsid sleep 600 &
(trap '' TERM; sleep 600) & disown -a
exit 0
