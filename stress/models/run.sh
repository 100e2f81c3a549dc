#!/bin/sh
# Checks the models of the protocols in all interleavings, and their mutants, which must fail with
# the invariant that is named here. Needs spin and a C compiler. Prints one line for each run, as it
# ends: states searched or, of a mutant, the length of the shortest counterexample and what it
# violates. Exits non-zero if an outcome is not the one expected.
#
#   sh run.sh            the default runs, two at a time: two minutes, and 2 GB
#   FULL=1 sh run.sh     the long runs as well, one at a time; MEMLIM is what each may take, in MiB
#   ONLY=text sh run.sh  the runs whose line below holds the text
#   KEEP=folder ...      leaves what each run printed, and the trails, in that folder
#
# A line: model, who runs it, expected outcome, defines. "holds" means that no invariant is violated
# and, in rotation and insert, that every run ends; "cycle", that some run does not; "violated", that
# an invariant without a name is; anything else names an invariant.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

table() {
    cat <<'END'
rotation    default  holds         TURNS=1
rotation    default  holds         TURNS=1 WRAP
rotation    mutant   older_count   NOSEAL
rotation    mutant   older_count   NOSEAL LARGER
rotation    mutant   older_count   BLINDCOPY
rotation    mutant   older_count   NOCOPY
rotation    mutant   older_count   SEALEDREFUND
rotation    mutant   sum_exact     COUNTSEALED
rotation    mutant   sum_exact     STANDSTILL
rotation    mutant   sum_exact     NORELOAD
rotation    mutant   older_count   LATEBLIND
rotation    mutant   older_count   TRUSTNEWER WRAP
rotation    mutant   cycle         LATETRUST WRAP
rotation    mutant   cycle         NOHELP
insert      default  holds         SCENE=1
insert      default  holds         SCENE=2 CALLS=2
insert      default  holds         SCENE=2 REFUNDS
insert      default  holds         SCENE=3
insert      default  holds         SCENE=5
insert      mutant   one_cell      NORESCAN
insert      full     own_cell      PLAINKILL THIRD=K
insert      full     one_cell      NOTICKET THIRD=K
insert      full     own_cell      NOMOVE
insert      mutant   own_cell      KEYFIRST
insert      mutant   count_true    NOHORIZON SCENE=2
insert      mutant   count_true    LATERAISE SCENE=2
insert      full     one_cell      NOKILL
insert      full     one_cell      NOSETTLED
insert      full     one_cell      NOBEFORE THIRD=K
insert      full     one_cell      LATEREACH SCENE=4 CELLS=3 THIRD=K
insert      full     own_cell      HALFCLAIM
insert      mutant   count_true    LOWCOMMIT SCENE=5
insert      mutant   denied_right  NORELOAD
generations default  holds         LIM=5 REQ=2 TURNS=0
generations full     holds         LIM=4 REQ=2 TURNS=1
generations full     holds         LIM=7 REQ=3 TURNS=0
generations full     holds         LIM=7 REQ=3 TURNS=0 LOWS=1
generations full     holds         LIM=4 REQ=2 TURNS=2
generations mutant   violated      NOCLOSE LIM=5 REQ=2 TURNS=0
generations mutant   violated      HEADFIRST LIM=7 REQ=3 TURNS=0 LOWS=1
generations mutant   violated      SKIPOLD LIM=5 REQ=3 TURNS=0
sums        default  holds         TURNS=1 CALLS=1
sums        full     holds         TURNS=2 CALLS=1
sums        mutant   violated      NOSPOIL TURNS=1
sums        mutant   violated      SPOILFIRST TURNS=1
sums        mutant   violated      RESUM TURNS=1
sums        mutant   violated      KEEP TURNS=1
sums        mutant   violated      SHARP TURNS=1
END
}

# check MODEL WHO EXPECTED DEFINES... runs one line of the table.
check() {
    model=$1 who=$2 expected=$3
    shift 3
    defines="$*"
    folder=${KEEP:-$WORK}/$(echo "$model $defines" | tr ' =' '_-')
    mkdir -p "$folder"
    cd "$folder"
    spin -a $(printf -- '-D%s ' "$@") "$here/$model.pml" >spin.out 2>&1 || { cat spin.out; exit 1; }
    # A mutant is searched breadth first, so that its counterexample is as short as any.
    case $expected in
    holds) how='-O2 -DNOFAIR' search='-a' ;;
    cycle) how='-O0 -DNOFAIR' search='-a' ;;
    *) how='-O1 -DSAFETY -DBFS' search='' ;;
    esac
    case $model in
    generations | sums) how='-O2 -DSAFETY' search='' who=collapsed ;; # no cycles are looked for
    esac
    [ "$who" = default ] || how="$how -DCOLLAPSE"
    cc -w $how -DMEMLIM="${MEMLIM:-3000}" -o pan pan.c
    ./pan $search -m1000000 -w24 >pan.out 2>&1 || true
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out)
    depth=$(sed -n 's/^pan:1:.*(at depth \([0-9]*\)).*/\1/p' pan.out)
    if grep -q 'acceptance cycle' pan.out; then
        outcome=cycle
    elif grep -q 'assertion violated' pan.out; then
        outcome=$(sed -n 's/^pan:1: assertion violated .*||\([a-z_]*\)) .*/\1/p' pan.out)
        outcome=${outcome:-violated}
    elif grep -q 'errors: 0' pan.out && ! grep -q 'Search not completed\|too small' pan.out; then
        outcome=holds
    else
        outcome=unfinished
    fi
    note="$states states"
    [ -z "$depth" ] || note="$note to a trail of $depth steps"
    if [ "$outcome" = "$expected" ]; then
        printf '%-12s %-34s %-14s %s\n' "$model" "$defines" "$outcome" "$note"
    else
        printf '%-12s %-34s %-14s %s: expected %s\n' "$model" "$defines" "$outcome" "$note" "$expected"
        sed -n 's/^pan:1: //p' pan.out
        exit 1
    fi
}

if [ "${1:-}" = check ]; then
    shift
    check "$@"
    exit
fi

WORK=$(mktemp -d)
export WORK
trap 'rm -rf "$WORK"' EXIT
atOnce=2 runs="default\|mutant"
[ "${FULL:-}" != 1 ] || atOnce=1 runs='default\|mutant\|full'
table | grep "^[a-z]* *\($runs\) " | grep -- "${ONLY:-}" |
    xargs -L 1 -P "$atOnce" sh "$here/run.sh" check
