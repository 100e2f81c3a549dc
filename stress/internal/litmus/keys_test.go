package litmus

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// mine and its neighbour are two keys; whoever inserts mine finds the neighbour's cell first.
const mine = 1

// neighbour returns a key whose cell, when its time has passed, mine takes over.
func neighbour(t testing.TB, f form) uint64 {
	for other := uint64(2); other < 1000; other++ {
		made := newTable(t, f.limit)
		require.True(t, made.Allow(other, before, 1, 1))
		require.True(t, made.Allow(mine, end, 1, 1))
		if made.Stats(end).TakenOver == 1 {
			return other
		}
	}
	require.Fail(t, "no key lies where mine would")
	return 0
}

// cells writes how many cells are in use, were taken over, and hold a claim that gave way.
func cells(made *table.Table) string {
	s := made.Stats(end)
	return fmt.Sprintf("%d live, %d taken over, %d killed", s.Live, s.TakenOver, s.Pending)
}

// TestTwoInsertersOfOneKey lets two events insert one key and ask for its one permit. Exactly one
// is admitted, and the key has one cell. The first cell in its probe range has expired for one of
// them only, so that they may claim different cells.
func TestTwoInsertersOfOneKey(t *testing.T) {
	for _, f := range []form{packedForm, taggedForm} {
		other := neighbour(t, f)
		newRace(f.name+" table: two inserters of one key, two cells", onlyTagged(f, []outcome{
			{"admitted at last | denied at end | 1 live, 0 taken over, 0 killed | 0 to 1",
				"the early one first"},
			{"denied at end | admitted at end | 1 live, 1 taken over, 0 killed | 1 to 1",
				"the late one first"},
			{"admitted at end | denied at end | 1 live, 1 taken over, 0 killed | 1 to 1",
				"the late one has inserted the key, the early one is counted first"},
			{"admitted at last | denied at end | 1 live, 1 taken over, 1 killed | 0 to 1",
				"the late one's claim gives way to the early one's cell, which is counted in"},
			{"denied at end | admitted at end | 1 live, 1 taken over, 1 killed | 1 to 1",
				"one claim gives way, and the late one is counted first"},
			{"admitted at end | denied at end | 1 live, 1 taken over, 1 killed | 1 to 1",
				"one claim gives way, and the early one is counted first, but late"},
			{"denied at end | admitted at end | 1 live, 0 taken over, 0 killed | 1 to 1",
				"the early one has inserted the key, the late one is counted first"},
		}, outcome{"admitted at end | denied at end | 1 live, 0 taken over, 0 killed | 1 to 1",
			"the early one has inserted the key, and then: " + turnedFirst}),
			func(t testing.TB) contest {
				made := newTable(t, f.limit)
				made.Allow(other, before, 1, 1)
				return contest{[]func() string{
					func() string { return verdict(made.Take(mine, last, 1, 1)) },
					func() string { return verdict(made.Take(mine, end, 1, 1)) },
				}, func() string { return cells(made) + " | " + counts(made.Read(mine, end)) }}
			}).run(t)
	}
}

// TestInsertersOfTwoKeys lets two events insert one key, and a third one another key, in an empty
// table. The keys do not disturb each other.
func TestInsertersOfTwoKeys(t *testing.T) {
	for _, f := range []form{packedForm, taggedForm} {
		other := neighbour(t, f)
		newRace(f.name+" table: two inserters of one key, one of another", []outcome{
			{"true | false | true | 2 live, 0 taken over, 0 killed", "the first first"},
			{"false | true | true | 2 live, 0 taken over, 0 killed", "the second first"},
		}, func(t testing.TB) contest {
			made := newTable(t, f.limit)
			return contest{[]func() string{
				func() string { return fmt.Sprint(made.Allow(mine, last, 1, 1)) },
				func() string { return fmt.Sprint(made.Allow(mine, last, 1, 1)) },
				func() string { return fmt.Sprint(made.Allow(other, last, 1, 1)) },
			}, func() string { return cells(made) }}
		}).run(t)
	}
}

// TestTakeoverAgainstHit lets a key come back to its cell when its time has passed, while another
// key takes the cell over; and come back one tick before, when its count still stands against it.
// Each key has one permit and one count: no cell serves both, and the key that comes back early
// gets its permit only as of the tick at which its old count has left.
func TestTakeoverAgainstHit(t *testing.T) {
	for _, f := range []form{packedForm, taggedForm} {
		other := neighbour(t, f)
		start := func(back tallyring.Tick) func(t testing.TB) contest {
			return func(t testing.TB) contest {
				made := newTable(t, f.limit)
				made.Allow(other, before, 1, 1)
				return contest{[]func() string{
					func() string { return verdict(made.Take(other, back, 1, 1)) },
					func() string { return verdict(made.Take(mine, end, 1, 1)) },
				}, func() string {
					return cells(made) + " | " + counts(made.Read(other, end)) + " | " +
						counts(made.Read(mine, end))
				}}
			}
		}
		newRace(f.name+" table: a takeover and a hit", []outcome{
			{"admitted at end | admitted at end | 2 live, 0 taken over, 0 killed | 1 to 1 | 1 to 1",
				"the hit first"},
			{"admitted at end | admitted at end | 2 live, 1 taken over, 0 killed | 1 to 1 | 1 to 1",
				"the takeover first"},
		}, start(end)).run(t)
		newRace(f.name+" table: a takeover and an early hit", []outcome{
			{"denied at last | admitted at end | 1 live, 1 taken over, 0 killed | 0 to 0 | 1 to 1",
				"the hit first"},
			{"admitted at end | admitted at end | 2 live, 1 taken over, 0 killed | 1 to 1 | 1 to 1",
				"the takeover first"},
		}, start(last)).run(t)
	}
}
