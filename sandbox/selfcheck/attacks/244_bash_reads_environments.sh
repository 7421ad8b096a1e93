# attack: bash_reads_environments
# threat: info
# expect: CONTAINED: no environment but its own
found=$(cat /proc/*/environ 2>/dev/null | tr '\0' '\n' | grep -c '^SBX_CANARY')
own=$(env | grep -c '^SBX_CANARY')
if [ "$found$own" = 00 ]; then echo CONTAINED; else echo "ESCAPED $found $own"; fi
