# attack: bash_here_strings
# threat: memory
# expect: CONTAINED: a string that doubles again and again meets the memory limit
text=xxxxxxxxxxxxxxxx
while :; do text=$text$text; done
