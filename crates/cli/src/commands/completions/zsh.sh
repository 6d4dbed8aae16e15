#compdef sexton
# Completion of sexton for zsh: a file _sexton in a directory of $fpath
_sexton() {
    local line
    local -a found
    for line in "${(@f)$(sexton complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && found+=("${line%%$'\t'*}")
    done
    if (( ! ${#found} )); then
        _files
        return
    fi
    local -a open=("${(@M)found:#*[/=]}") closed=("${(@)found:#*[/=]}")
    (( ${#open} )) && compadd -S '' -- "${open[@]}"
    (( ${#closed} )) && compadd -- "${closed[@]}"
}
if [ "$funcstack[1]" = "_sexton" ]; then
    _sexton "$@"
else
    compdef _sexton sexton
fi
