set -eu
(sleep 0.01) & wait
coproc cat
echo x >&"${COPROC[1]}"
read -r -u "${COPROC[0]}" line
test "$line" = x
diff <(seq 5) <(seq 5)
nice -n 1 true
timeout 5 true
cp -a "$0" two.sh
mkfifo pipe && rm pipe
tar cf all.tar two.sh && gzip all.tar && tar tzf all.tar.gz > list
dd if=/dev/zero of=zero count=1 2> error
truncate -s 5 zero
flock zero true
mktemp > name
seq 3 | xargs -P2 -n1 true
awk 'BEGIN { system("true") }'
sort -u list | sed -n 1p | grep -q two
find . -newer "$0" | wc -l > count
ls -la --color=auto > all
date > now
df . > free
echo done
