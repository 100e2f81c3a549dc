// Command misses makes decisions for a cache simulator to count: run.sh in this folder runs it
// under valgrind, with and without decisions, and divides the difference.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// keys are as many as make the table far larger than the simulated cache.
const keys = 400_000

// stride has no factor in common with keys: its multiples name each key once, in another order than
// that of their insertion.
const stride = 275_604_541

// hash returns the key of a number, from nothing but the number, so that no list of keys takes a
// place in the cache (the finalizer of splitmix64).
func hash(n uint64) uint64 {
	n = (n + 1) * 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func main() {
	if len(os.Args) != 3 {
		fail("arguments are %q, want: table|floor, and the number of decisions", os.Args[1:])
	}
	decisions, err := strconv.Atoi(os.Args[2])
	if err != nil || decisions < 0 || decisions > keys {
		fail("decisions is %q, want 0 to %d", os.Args[2], keys)
	}
	t, err := table.New(table.Config{
		Window: tallyring.Window{Slots: 2, Width: time.Minute}, Keys: keys,
	})
	if err != nil {
		fail("%v", err)
	}
	for i := range uint64(keys) {
		t.Allow(hash(i), 0, 1, t.MaxLimit())
	}
	passed := 0
	switch os.Args[1] {
	case "table":
		limit := t.MaxLimit()
		for i := range uint64(decisions) {
			if t.Allow(hash(i*stride%keys), tallyring.Tick(i), 1, limit) {
				passed++
			}
		}
	case "floor":
		lines := t.Bytes() / tallyring.LineBytes
		words := tallyring.Words(tallyring.NewLines(lines))
		for i := range uint64(decisions) {
			word := &words[hash(i*stride%keys)%uint64(lines)*tallyring.LineWords]
			if old := word.Load(); word.CompareAndSwap(old, old+1) {
				passed++
			}
		}
	default:
		fail("what to run is %q, want table or floor", os.Args[1])
	}
	if passed != decisions {
		fail("%d of %d passed, want all", passed, decisions)
	}
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "misses: "+format+"\n", values...)
	os.Exit(1)
}
