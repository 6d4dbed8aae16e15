#!/bin/sh
# Deploys a module of N ConfigMaps, deploys it again unchanged, and sweeps it; then the same with `kubectl apply --prune`
# (ApplySet) on a server of ours and with `terraform apply` of as many terraform_data, where those programs are installed.
# One line per measurement: what, how many, seconds. Usage: bench/modules.sh [N [SEXTON]]
set -eu
count=${1:-1000}
sexton=${2:-target/release/sexton}
sexton=$(realpath "$sexton")
dir=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT INT TERM
cd "$dir"

documents() { # FROM TO
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i <= to; i++)
        printf "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m-%06d\ndata:\n  a: one\n  b: two words\n", i }'
}
measure() { # WHAT COMMAND…
    what=$1
    shift
    begun=$(date +%s.%N)
    if "$@" >>log 2>&1; then
        ended=$(date +%s.%N)
        echo "$what $count $(echo "$begun $ended" | awk '{ printf "%.2f", $2 - $1 }')"
    else
        echo "$what $count failed; see below"
        tail -n 5 log
    fi
}

mkdir big one
echo "manager: big" | tee big/sexton.yaml >one/sexton.yaml
documents 1 "$count" >big/all.yaml
documents 1 1 >one/all.yaml
measure "sexton apply (new)" "$sexton" apply -f big
measure "sexton apply (unchanged)" "$sexton" apply -f big
measure "sexton plan (unchanged)" "$sexton" plan -f big
measure "sexton plan (all but one swept)" sh -c "'$sexton' plan -f one; [ \$? -eq 3 ] || [ \$? -eq 0 ]"
measure_sweep() { # WHERE FLAGS…
    where=$1
    shift
    "$sexton" apply -f big "$@" >>log 2>&1
    begun=$(date +%s.%N)
    "$sexton" apply -f one --yes --max-delete 100% -o json "$@" >sweep.json 2>>log || tail -n 5 log
    ended=$(date +%s.%N)
    echo "sexton apply, all but one swept ($where) $count $(echo "$begun $ended" | awk '{ printf "%.2f", $2 - $1 }')"
    # How long it took from the seal to the last one gone, accusing included, says the command itself.
    sed -n 's/.*"kind":"Result".*"sweepSeconds":\([0-9.]*\).*"swept":\([0-9]*\).*/\2 \1/p' sweep.json |
        awk -v where="$where" '{ printf "sexton sweep (%s) %d %.2f, %d/s\n", where, $1, $2, $1 / $2 }'
}
measure_sweep embedded

"$sexton" serve --open --data served --listen 127.0.0.1:8297 >serve.log 2>&1 &
server=$!
tries=0
until "$sexton" get ns --server http://127.0.0.1:8297 >/dev/null 2>&1 || [ "$tries" -ge 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
measure_sweep server --server http://127.0.0.1:8297

if command -v kubectl >/dev/null; then
    "$sexton" kubeconfig --data served >kubeconfig
    export KUBECONFIG="$dir/kubeconfig" KUBECTL_APPLYSET=true
    kube() { kubectl apply -n default --server-side --applyset=big --prune -f "$1"; }
    measure "kubectl apply (new)" kube big/all.yaml
    measure "kubectl apply (unchanged)" kube big/all.yaml
    measure "kubectl apply --prune (all but one)" kube one/all.yaml
else
    echo "kubectl: not installed"
fi

if command -v terraform >/dev/null; then
    mkdir tf
    echo 'variable "n" { type = number }
resource "terraform_data" "m" {
  count = var.n
  input = "one"
}' >tf/main.tf
    terra() { terraform -chdir=tf apply -auto-approve -input=false -no-color -var "n=$1"; }
    if terraform -chdir=tf init -input=false >>log 2>&1; then
        measure "terraform apply (new)" terra "$count"
        measure "terraform apply (unchanged)" terra "$count"
        measure "terraform apply (all but one destroyed)" terra 1
    else
        echo "terraform: cannot be set up here"
    fi
else
    echo "terraform: not installed"
fi
