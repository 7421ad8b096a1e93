# attack: bash_flood
# threat: output
# expect: CONTAINED: output from many writers at once is cut and the job ended
# status: output_limit
for n in 1 2 3; do (while :; do echo "flood flood flood flood flood flood flood flood flood flood"; done) & done
wait
