# attack: bash_network
# threat: net
# expect: CONTAINED: the shell's own sockets do not reach the host's loopback
# oracle: host listener on 127.0.0.1:48123
if (exec 3<>/dev/tcp/127.0.0.1/48123) 2>/dev/null; then echo "ESCAPED canary"; else echo CONTAINED; fi
