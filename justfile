# Shortcuts. Everything here is a plain cargo command that works without `just`, too.

# List the shortcuts
default:
    @just --list

# All tests
test *args:
    cargo test --workspace {{args}}

# Lints, as strict as before a merge
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# Format everything
fmt:
    cargo fmt --all

# All that has to pass before a merge
ci:
    .ci/run

# Serve the store in .sexton on loopback
serve *args:
    cargo run --release -- serve {{args}}

# Measure a running server: just bench http://127.0.0.1:8180 PID
bench server pid:
    cargo run --release -p sexton-bench -- --server {{server}} --pid {{pid}} all --fsync-dir target

# Many simulated worlds, one after the other: just simulate 10000 20000 runs the numbers from 20000 on
simulate seeds="10000" first="0":
    SEXTON_SIM_SEEDS={{seeds}} SEXTON_SIM_FIRST={{first}} SEXTON_SIM_SECONDS=14400 SEXTON_SIM_KEEP_GOING=1 \
        cargo test --profile quick -p sexton-testkit --test sim -- --nocapture

# Plant bugs in a copy of the tree, and see whether their tests notice: just mutants crates/store
mutants which="all":
    SEXTON_MUTANTS={{which}} cargo test -p sexton-testkit --test mutants -- --nocapture

# The same tests for much longer: more random cases, a hundred kills, optimized
long cases="20000":
    SEXTON_LONG=1 PROPTEST_CASES={{cases}} cargo test --release --workspace
