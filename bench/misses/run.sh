#!/usr/bin/env bash
# Prints simulated cache misses per decision on 400,000 random keys, and of a bare compare-and-swap on
# as many random lines: first level 32 KiB, last level 1 MiB. Needs valgrind. Fails if the table takes
# more than 1.2 last-level misses. Run it from anywhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/misses" .
decisions=400000

# count WHAT DECISIONS prints the instructions, first-level and last-level data misses of a run.
count() {
  GOMAXPROCS=1 GOGC=off valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null \
    --I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64 "$work/misses" "$1" "$2" 2>&1 |
    sed -nE 's/,//g; s/.*I +refs: +([0-9]+).*/\1/p; s/.*D1 +misses: +([0-9]+).*/\1/p
      s/.*LLd misses: +([0-9]+).*/\1/p' | tr '\n' ' '
}

for what in floor table; do
  read -r instructions0 first0 last0 <<<"$(count "$what" 0)"
  read -r instructions first last <<<"$(count "$what" "$decisions")"
  awk -v n="$decisions" -v what="$what" -v i=$((instructions - instructions0)) \
    -v f=$((first - first0)) -v l=$((last - last0)) 'BEGIN {
      printf "%s: %.1f instructions, %.3f first-level misses, %.3f last-level misses a decision\n",
        what, i / n, f / n, l / n
      exit what == "table" && !(l / n > 0.5 && l / n <= 1.2) }'
done
