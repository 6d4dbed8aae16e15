#!/bin/sh
# How fast programs are: a run that creates N objects and stores them, one that changes nothing, and one that drops all.
# Usage: bench/programs.sh [N] [PROGRAM]   (N objects, 100000; PROGRAM is the sexton to measure, target/release/sexton)
set -eu
count=${1:-100000}
sexton=${2:-target/release/sexton}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat > "$dir/many.luau" <<PROGRAM
format "1.4"
local Item = class("Item", {
    properties = { label = { usage = "In", type = "string" } },
    destroy = function(self) self._gone = true end,
})
local Group = class("Group", { properties = { items = { usage = "InOut", type = "list", default = {} } } })
function deploy(env)
    if os_drop then env.applications = {} return end
    if env.applications and #env.applications > 0 then return end
    local groups = {}
    for at = 1, $count, 1000 do
        local group = new(Group, {}, env)
        local items = {}
        for number = at, math.min(at + 999, $count) do
            table.insert(items, new(Item, { label = "number " .. number }, group))
        end
        group.items = items
        table.insert(groups, group)
    end
    env.applications = groups
end
PROGRAM
sed 's/if os_drop then/if true then/' "$dir/many.luau" > "$dir/drop.luau"
sed -i 's/    if os_drop then env.applications = {} return end//' "$dir/many.luau"

measure() {
    begin=$(date +%s%N)
    "$sexton" --data "$dir/store" run "$dir/$2" --env bench --yes --max-delete 100% > "$dir/out" 2>&1 || { cat "$dir/out"; exit 1; }
    end=$(date +%s%N)
    echo "$1: $(( (end - begin) / 1000000 )) ms, $(( count * 1000000000 / (end - begin) ))/s   $(tail -n 1 "$dir/out")"
}
echo "$count objects"
measure "create and store" many.luau
measure "change nothing" many.luau
measure "drop all" drop.luau
