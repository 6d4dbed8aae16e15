#!/bin/sh
# Counts the instructions that a server executes for a request, under valgrind: the one measure of the hot path that does not
# depend on the hour, for comparing two builds. One line per kind of request. A build without whole-program optimization
# does, if both are such. Usage: bench/instructions.sh [SEXTON [SEXTON-BENCH]]
set -eu
sexton=$(realpath "${1:-target/release/sexton}")
bench=$(realpath "${2:-target/release/sexton-bench}")
command -v valgrind >/dev/null 2>&1 || { echo "skipped: needs valgrind"; exit 0; }
dir=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT INT TERM

load() { # WHAT… of sexton-bench
    "$bench" --server "$url" "$@" >>"$dir/log" 2>&1
}
count() { # NAME COUNT COMMAND-BEFORE COMMAND
    rm -rf "$dir/store"
    valgrind --tool=callgrind --callgrind-out-file="$dir/out" --instr-atstart=no --log-file="$dir/valgrind" \
        "$sexton" --data "$dir/store" serve --open --listen 127.0.0.1:0 --collector off >"$dir/serve" 2>&1 &
    server=$!
    url=
    for _ in $(seq 300); do
        url=$(grep -o 'http://127.0.0.1:[0-9]*' "$dir/serve" | head -n 1) || true
        [ -n "$url" ] && curl -sf -o /dev/null "$url/readyz" && break
        sleep 0.2
    done
    eval "$3"
    callgrind_control -i on "$server" >/dev/null 2>&1
    eval "$4"
    callgrind_control -i off "$server" >/dev/null 2>&1
    kill -INT "$server"
    wait "$server" 2>/dev/null || true
    server=
    echo "$1 $(awk -v count="$2" '/Collected/ { printf "%d", $NF / count }' "$dir/valgrind")"
}

count create 4000 true "load create --count 4000"
count get 8000 "load create --count 500" "load get --count 8000"
count delete 4000 "load create --count 4000" "load delete"
count "list, each object" 4000 "load create --count 4000" "load list"
