#!/bin/sh
# Checks the models of the protocols in all interleavings, and their mutants, each of which must
# fail by the invariant that is named here. README.md tells what they stand for. Needs spin and a C
# compiler. Prints one line for each run as it ends, and exits non-zero if an outcome is not the one
# expected.
#
#   sh run.sh            the default runs, two at a time
#   FULL=1 sh run.sh     the long runs as well
#   ONLY=text sh run.sh  of those, the runs whose line below holds the text
#   MEMLIM=8000 ...      what a run may take, in MiB, instead of 5000
#   KEEP=folder ...      leaves what each run printed, and the trails, in that folder
#
# A line: model, when it is run, expected outcome, defines. "holds" means that the search was
# complete, that no invariant is violated and that every run ends; "cycle", that some run does not;
# anything else names the invariant that is violated. Mutants are searched breadth first, so that
# the counterexample is short, and depth first where they are called deep or must have a cycle. The
# long runs are called full and longdeep.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

table() {
    cat <<'END'
rotation    default  holds         TURNS=1
rotation    default  holds         TURNS=1 WRAP
rotation    full     holds         TURNS=2
rotation    full     holds         TURNS=1 OLDERREFUND
rotation    mutant   older_count   NOSEAL
rotation    mutant   older_count   NOSEAL LARGER
rotation    mutant   older_count   NOCOPY
rotation    full     older_count   BLINDCOPY
rotation    mutant   older_count   TRUSTNEWER WRAP
rotation    mutant   older_count   SEALEDREFUND
rotation    mutant   older_count   LATEBLIND
rotation    mutant   sum_exact     COUNTSEALED
rotation    mutant   sum_exact     STANDSTILL
rotation    mutant   sum_exact     NORELOAD
rotation    mutant   cycle         LATETRUST WRAP
rotation    mutant   cycle         NOHELP
sums        default  holds         TURNS=1 CALLS=1
sums        full     holds         TURNS=2 CALLS=1
sums        full     holds         TURNS=1 CALLS=1 SUMSLAST
sums        full     holds         TURNS=1 CALLS=1 NOHEAD
sums        mutant   misses_none   NOSPOIL TURNS=1 CALLS=1
sums        deep     misses_none   RESUM TURNS=1
sums        full     misses_none   SPOILFIRST TURNS=1 CALLS=1
sums        full     misses_none   SHARP TURNS=1 CALLS=1
sums        mutant   invents_none  KEEP TURNS=1 CALLS=1
insert      default  holds         SCENE=1
insert      full     holds         SCENE=2 CALLS=2
insert      default  holds         SCENE=2 REFUNDS
insert      default  holds         SCENE=3
insert      default  holds         SCENE=5 CALLS=2
insert      full     holds         SCENE=3 CALLS=2
insert      full     holds         SCENE=1 THIRD=K
insert      full     holds         SCENE=2 CALLS=2 REFUNDS
insert      full     holds         SCENE=2 LAST=3 REFUNDS
insert      full     holds         SCENE=3 LAST=3
insert      full     holds         SCENE=4 CELLS=3
insert      full     holds         SCENE=1 LOWCLAIM
insert      full     holds         SCENE=1 KEEPOWN
insert      mutant   one_cell      NORESCAN CALLERS=2 THIRD=K
insert      mutant   one_cell      NOKILL CALLERS=2 THIRD=K
insert      mutant   one_cell      NOSETTLED CALLERS=2 THIRD=K
insert      deep     one_cell      NOBEFORE THIRD=K
insert      deep     one_cell      NOTICKET THIRD=K
insert      deep     one_cell      LATEREACH SCENE=4 CELLS=3 THIRD=K
insert      longdeep own_cell      PLAINKILL THIRD=K
insert      mutant   own_cell      NOMOVE CALLERS=2
insert      mutant   own_cell      HALFCLAIM CALLERS=2
insert      mutant   own_cell      KEYFIRST CALLERS=2 SCENE=2
insert      mutant   count_true    NOHORIZON SCENE=2
insert      mutant   count_true    LATERAISE SCENE=2
insert      mutant   count_true    LOWCOMMIT SCENE=5
insert      mutant   denied_right  NORELOAD
generations default  holds         CALLS=2 LIM=4
generations default  holds         CALLS=3 LIM=7
generations default  holds         COST=3 CALLS=1 START=1 LIM=7
generations default  holds         REFUNDS CALLS=1 START=1
generations default  holds         REFUNDS TURNS=1 CALLS=1 START=1 SLOTS=2 LIM=6
generations full     holds         TURNS=1 CALLS=1 LAST=2 START=1
generations full     holds         TURNS=1 CALLS=1 LAST=2 START=1 SLOTS=2 LIM=5
generations full     holds         TURNS=2 CALLS=1 LAST=2 START=1 SLOTS=2 LIM=5
generations full     holds         REFUNDS CALLS=2
generations full     holds         REFUNDS TURNS=1 CALLS=1 LAST=2 START=1 LIM=5
generations full     holds         COST=3 CALLS=2 START=1 LIM=5
generations full     holds         COST=3 TURNS=1 CALLS=1 START=1 SLOTS=2 LIM=7
generations mutant   exact_count   NOCLOSE LIM=5
generations mutant   exact_count   SKIPOLD START=1 LIM=5
generations mutant   exact_count   REOPEN START=1
generations mutant   exact_count   TORN START=1
generations mutant   exact_count   LOWS=1 START=1
generations mutant   exact_count   TURNSHARED TURNS=1 CALLS=1 START=1
generations deep     exact_count   HEADFIRST REFUNDS START=1 LIM=7
generations deep     exact_count   ONEWORD REFUNDS CALLS=3 LAST=1 START=1
generations mutant   within_limit  WHOLESHARE START=1
generations mutant   denied_right  ANYSUM COST=3 CALLS=1 START=1 LIM=7
generations mutant   cycle         WAITS
END
}

# outcome tells what pan printed, in the words of the table. A search that ended early, and an
# assertion without a name, are neither of them.
outcome() {
    if grep -q 'acceptance cycle' pan.out; then
        echo cycle
    elif grep -q 'assertion violated' pan.out; then
        sed -n 's/^pan:1: assertion violated .*||\([a-z_]*\)) (at depth.*/\1/p' pan.out
    elif grep -q 'errors: 0' pan.out && ! grep -q 'Search not completed\|too small' pan.out; then
        echo holds
    fi
}

# check MODEL WHEN EXPECTED DEFINES... runs one line of the table.
check() {
    model=$1 when=$2 expected=$3
    shift 3
    defines="$*"
    folder=${KEEP:-$WORK}/$(echo "$model $defines" | tr ' =' '_-')
    mkdir -p "$folder"
    cd "$folder"
    spin -a $(printf -- '-D%s ' "$@") "$here/$model.pml" >spin.out 2>&1 || { cat spin.out; exit 1; }
    case $when-$expected in
    *deep-*) how='-O1 -DSAFETY -DCOLLAPSE' search='' ;;
    *-cycle) how='-O0 -DNOFAIR' search='-a' ;;
    *-holds) how='-O2 -DNOFAIR' search='-a' ;;
    *) how='-O0 -DSAFETY -DBFS' search='' ;;
    esac
    [ "$when" != full ] || how="$how -DCOLLAPSE"
    cc -w $how -DMEMLIM="${MEMLIM:-5000}" -o pan pan.c
    ./pan $search -m1000000 -w24 >pan.out 2>&1 || true
    got=$(outcome)
    note="$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out) states"
    depth=$(sed -n 's/^pan:1:.*(at depth \([0-9]*\)).*/\1/p' pan.out)
    [ -z "$depth" ] || note="$note, $depth steps"
    note="$note, $(sed -n 's/^ *\([0-9]*\)[.0-9]*	total actual memory usage/\1/p' pan.out) MB"
    times >times.out # of this shell, then of what it ran: spin, cc and pan
    seconds=$(sed -n '2s/[ms]/ /gp' times.out | awk '{ print 60 * ($1 + $3) + $2 + $4 }')
    note="$note, $seconds s of CPU"
    [ "$got" = "$expected" ] || note="$note: expected $expected"
    printf '%-12s %-50s %-13s %s\n' "$model" "$defines" "${got:-unfinished}" "$note"
    [ "$got" = "$expected" ] || { sed -n 's/^pan:1: //p' pan.out; exit 1; }
}

if [ "${1:-}" = check ]; then
    shift
    check "$@"
    exit
fi

WORK=$(mktemp -d)
export WORK
trap 'rm -rf "$WORK"' EXIT
runs='default\|mutant\|deep'
[ "${FULL:-}" != 1 ] || runs='[a-z]*'
table | grep "^[a-z]* *\($runs\) " | grep -- "${ONLY:-}" |
    xargs -L 1 -P 2 sh "$here/run.sh" check
