#!/bin/sh
# Runs the model of the generations exhaustively, and its mutants, which must fail. Needs spin and a
# C compiler. Prints the states of each run; exits non-zero if an outcome is not the expected one.
# FULL=1 adds two turns, which takes several minutes, and MEMLIM the memory in MiB that it may take.
set -eu
model=$(cd "$(dirname "$0")" && pwd)/generations.pml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
status=0

# check NAME pass|fail DEFINES...
check() {
    name=$1 expected=$2
    shift 2
    spin -a "$@" "$model" >/dev/null
    cc -w -O2 -DSAFETY -DCOLLAPSE -DMEMLIM="${MEMLIM:-3000}" -o pan pan.c
    ./pan -m1000000 -w26 >out 2>&1 || true
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out)
    outcome=pass
    grep -q 'errors: 0' out || outcome=fail
    if [ "$outcome" = pass ] && grep -q 'Search not completed\|max search depth too small' out; then
        outcome=unfinished
    fi
    echo "$name: $outcome (expected $expected), $states states"
    [ "$outcome" = "$expected" ] || status=1
}

check 'limit 5, no turn' pass -DLIM=5 -DREQ=2 -DTURNS=0
check 'limit 7, no turn' pass -DLIM=7 -DREQ=3 -DTURNS=0
check 'limit 7, no turn, no low bits' pass -DLIM=7 -DREQ=3 -DTURNS=0 -DLOWS=1
check 'limit 4, one turn' pass -DLIM=4 -DREQ=2 -DTURNS=1
if [ "${FULL:-}" = 1 ]; then
    check 'limit 4, two turns' pass -DLIM=4 -DREQ=2 -DTURNS=2
fi
check 'mutant: no close' fail -DNOCLOSE -DLIM=5 -DREQ=2 -DTURNS=0
check 'mutant: head before shard' fail -DHEADFIRST -DLIM=7 -DREQ=3 -DTURNS=0 -DLOWS=1
check 'mutant: older shards left open' fail -DSKIPOLD -DLIM=5 -DREQ=3 -DTURNS=0
exit $status
