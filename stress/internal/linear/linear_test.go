package linear

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/pertcore"
	"github.com/tallyring/tallyring/stress/internal/crowd"
)

// tally is what a number of histories showed.
type tally struct {
	histories, overlapping, overtaken, turned int
}

func (t *tally) String() string {
	return fmt.Sprintf("%d histories, %d with overlapping calls, %d where calls overtook others, "+
		"%d with a turn or a takeover seen under way",
		t.histories, t.overlapping, t.overtaken, t.turned)
}

// order is what a kind of subject promises of its histories.
type order interface {
	inCallOrder(history []porcupine.Operation) bool
	judge(history, evictions []porcupine.Operation) finding
	explain(folder string, history, evictions []porcupine.Operation) string
}

// check judges one history and adds up what it showed.
func (t *tally) check(test *testing.T, c order, calls, evictions []porcupine.Operation) {
	t.histories++
	if overlaps(calls) {
		t.overlapping++
	}
	if !c.inCallOrder(calls) {
		t.overtaken++
	}
	switch c.judge(calls, evictions) {
	case turned:
		t.turned++
	case broken:
		folder, err := os.MkdirTemp("", "linear-") // stays, for whoever looks into the failure
		require.NoError(test, err)
		require.Fail(test, c.explain(folder, calls, evictions))
	}
}

// enough tells whether the histories were such that an engine without order would have been found
// out: many with calls that overlap, and many whose answers are not those of the order in which
// the calls were begun.
func (t *tally) enough() bool {
	wanted := len(procs) * rounds()
	return t.overlapping >= wanted/4 && t.overtaken >= wanted/10
}

// procs are the settings of GOMAXPROCS that each kind of history is recorded under.
var procs = []int{1, 2, 4, 16}

// passes bounds how often all of them are gone through, until there is enough contention: on a busy
// machine goroutines meet less.
const passes = 10

// rounds is how many histories are recorded of each kind in one pass under each setting. With the
// stand-ins for assembly, as under the race detector, calls are slower and overlap more.
func rounds() int {
	if tallyring.PairLockFree() {
		return 500
	}
	return 80
}

// campaign records histories of one kind.
type campaign struct {
	script func() script
	on     func(script) subject
	judge  func(*recorder)
	enough func() bool
}

// run goes through the settings of GOMAXPROCS, at least once and until there is enough contention.
func (c campaign) run(t *testing.T) {
	for pass := range passes {
		if pass > 0 && c.enough() {
			return
		}
		for _, n := range procs {
			func() {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
				for _, r := range record(rounds(), c.script, c.on) {
					c.judge(r)
				}
			}()
		}
	}
	require.True(t, c.enough(), "the goroutines did not meet")
}

// record lets the goroutines of so many scripts at their subjects, one script after another.
func record(rounds int, write func() script, on func(script) subject) []*recorder {
	recorders := make([]*recorder, rounds)
	for i := range recorders {
		s := write()
		recorders[i] = newRecorder(s, on(s))
	}
	crowd.Meet(4, rounds, func(member, round int) { recorders[round].member(member) })
	return recorders
}

// TestRings records calls on rings of every form. A packed ring turns and counts in one step, so
// its histories are held to the model without turns.
func TestRings(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			a := author{rng: seeded(), window: f.window, adds: true, reads: true, whole: true,
				limits: []uint64{1, 2, 3, 5, 12, 40}}
			var seen tally
			campaign{
				script: a.script,
				on:     func(script) subject { return onRing{f.ring(t)} },
				judge: func(r *recorder) {
					c := checker{model: model{f.window}, whole: r.whole, turning: !f.packed}
					seen.check(t, &c, r.history(), nil)
				},
				enough: seen.enough,
			}.run(t)
			t.Log(&seen)
		})
	}
}

// TestLimiters records calls on sharded limiters. The limits reach from one that admits a single
// event to some that open shared mode whatever the number of shards: it opens with an event that
// leaves shards*shards of the limit, and at least twice the shards.
func TestLimiters(t *testing.T) {
	for _, w := range []tallyring.Window{
		{Slots: 1, Width: second}, {Slots: 2, Width: second},
		{Slots: 3, Width: second, Strict: true},
	} {
		t.Run(fmt.Sprintf("n=%d", w.Slots), func(t *testing.T) {
			a := author{rng: seeded(), window: w, fixedLimit: true}
			c := checker{model: model{w}, turning: true, eager: true}
			var seen tally
			campaign{
				script: func() script {
					shards := uint64(newLimiter(t, w, 1).Shards())
					room := shards * max(shards, 2)
					a.limits = []uint64{1, 5, 2 * room, 3*room + 7, 8 * room}
					return a.script()
				},
				on:     func(s script) subject { return onLimiter{newLimiter(t, w, s.limit)} },
				judge:  func(r *recorder) { seen.check(t, &c, r.history(), nil) },
				enough: seen.enough,
			}.run(t)
			t.Log(&seen)
		})
	}
}

func newLimiter(t testing.TB, w tallyring.Window, limit uint64) *pertcore.Limiter {
	l, err := pertcore.NewLimiter(w, limit)
	require.NoError(t, err)
	return l
}

func seeded() *rand.Rand { return rand.New(rand.NewPCG(0x7a11, 0x217)) }
