# Completion of sexton for fish: ~/.config/fish/completions/sexton.fish
function __sexton_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    sexton complete -- $typed[2..-1] "$current" 2>/dev/null
end
complete -c sexton -n 'count (__sexton_complete) >/dev/null' -f -a '(__sexton_complete)'
