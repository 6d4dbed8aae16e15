# What zsh offers at the end of a line, one a line: a zsh with its completion system in a terminal of its own, where the
# line and a tab are typed. In the directory of the first argument is the file _sexton; the second is the line.
zmodload zsh/zpty
zpty -b typed zsh -f -i
{
    # What is offered is written down where it is handed over; both marks are put together here, so that the echo of
    # what is typed is not one.
    zpty -w typed "PS1= PS2= RPS1="
    zpty -w typed "fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=1000000"
    zpty -w typed "compadd() { local -a taken; builtin compadd -O taken \"\$@\"; print -rl -- \"\$IPREFIX\"\$^taken >>${(q)1}/offered; builtin compadd \"\$@\"; }"
    zpty -w typed "at_end() { print -r -- offered''-all }; comppostfuncs=(at_end); print rea''dy"
    zpty -r typed said '*ready*'
    zpty -n -w typed "$2"$'\t'
    zpty -r typed said '*offered-all*'
} always {
    zpty -d typed
}
[[ ! -e $1/offered ]] || print -r -- "$(<$1/offered)"
