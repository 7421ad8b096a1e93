# attack: bash_limits
# threat: limits
# expect: CONTAINED: no limit can be lifted from the shell
for name in u n f v t c s; do
    hard=$(ulimit -H -$name)
    [ "$hard" = unlimited ] && continue
    if ulimit -H -$name unlimited 2>/dev/null || ulimit -H -$name $((hard + 1)) 2>/dev/null; then
        echo "ESCAPED $name"
    fi
done
echo CONTAINED
