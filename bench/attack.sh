#!/bin/sh
# Measures what an honest client of `sexton serve` keeps of its creates while others attack: connections of HTTP/2 with closed
# windows, lists that are not read, bodies that never come, and hooks that hang, all at the same time, with N objects stored.
# One line: baseline, under attack, ratio, p99 ratio, peak memory, verdict; the exit code is 1 if a bound does not hold.
# Usage: bench/attack.sh [N [SEXTON [SEXTON-BENCH]]]
set -eu
objects=${1:-100000}
sexton=$(realpath "${2:-target/release/sexton}")
bench=$(realpath "${3:-target/release/sexton-bench}")
hooks=96 # more than the slots for hooks
count=30000
dir=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT INT TERM

mkdir "$dir/hooks"
printf '#!/bin/sh\nmktemp "%s/hanging.XXXXXX" >/dev/null\nexec sleep 600\n' "$dir" >"$dir/hooks/hang"
chmod 755 "$dir/hooks/hang"
"$sexton" --data "$dir/store" serve --open --listen 127.0.0.1:0 --allow-exec "$dir/hooks" >"$dir/serve" 2>&1 &
server=$!
url=
for _ in $(seq 300); do
    url=$(grep -o 'http://127.0.0.1:[0-9]*' "$dir/serve" | head -n 1) || true
    [ -n "$url" ] && curl -sf -o /dev/null "$url/readyz" && break
    sleep 0.1
done

"$bench" --server "$url" create --count "$objects" >"$dir/created" 2>>"$dir/log"
# Three classes and four namespaces: a class or a namespace has only a part of the slots for hooks.
{
    for class in Secret Service ServiceAccount; do
        printf -- '---\napiVersion: sexton.dev/v1\nkind: Class\nmetadata: {name: hang-%s}\n' "$(echo $class | tr 'A-Z' 'a-z')"
        printf 'spec: {for: {kind: %s}, destroy: {exec: {argv: ["%s/hooks/hang"]}, deadlineSeconds: 600}}\n' "$class" "$dir"
    done
    for space in 0 1 2 3; do
        printf -- '---\napiVersion: v1\nkind: Namespace\nmetadata: {name: hang-%s}\n' "$space"
    done
    for number in $(seq "$hooks"); do
        case $((number % 3)) in 0) kind=Secret ;; 1) kind=Service ;; *) kind=ServiceAccount ;; esac
        printf -- '---\napiVersion: v1\nkind: %s\nmetadata: {name: h-%s, namespace: hang-%s}\n' "$kind" "$number" "$((number / 3 % 4))"
    done
} >"$dir/hang.yaml"
"$sexton" put -f "$dir/hang.yaml" --server "$url" >>"$dir/log" 2>&1

cat >"$dir/begin" <<END
#!/bin/sh
for space in 0 1 2 3; do
    for kind in secrets services serviceaccounts; do
        curl -sf -o /dev/null -X DELETE "$url/api/v1/namespaces/hang-\$space/\$kind"
    done
done
# Until no more of them begin: fair turns may keep a few slots free.
before=-1
now=0
while [ "\$now" -gt "\$before" ] || [ "\$now" -eq 0 ]; do
    before=\$now
    sleep 3
    now=\$(ls "$dir" | grep -c ^hanging || true)
done
END
chmod 755 "$dir/begin"
"$bench" --server "$url" --pid "$server" attack --count "$count" --settle-ms 10000 -- "$dir/begin" >"$dir/line"
field() {
    sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$dir/line"
}
echo "$(field alone_rate) $(field rate) $(field rate_ratio) $(field alone_p99_us) $(field p99_us) $(field p99_ratio) \
$(field peak_mib) $(field held) $(field errors) $(ls "$dir" | grep -c ^hanging)" | awk '{
    holds = $3 >= 0.5 && $6 <= 10 && $7 * 1.048576 < 500 && $9 == 0
    printf "baseline %d/s p99 %d us; under attack %d/s p99 %d us; ratio %.2f (>= 0.5), p99 ratio %.2f (<= 10), ", $1, $4, $2, $5, $3, $6
    printf "peak %d MiB (< 476), %d connections and streams held, %d hooks hang, %d errors: %s\n", $7, $8, $10, $9, holds ? "holds" : "DOES NOT HOLD"
    exit !holds
}'
