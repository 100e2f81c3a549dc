package table

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// stateLayouts returns the states of many layouts: every number of index bits that a width asks
// for.
func stateLayouts(t *testing.T) []states {
	var all []states
	for _, slots := range []int{1, 2, 3, 7, 61} {
		for width := time.Duration(64); width <= time.Hour; width *= 4 {
			table := newTable(t, tallyring.Window{Slots: slots, Width: width}, 1)
			all = append(all, table.states)
		}
	}
	return all
}

// Goal: the distance between stored indexes is the distance between buckets, across the wrap, as
// long as it is less than half the range. Method: plain arithmetic on true bucket numbers.
func TestBehindIsTheDistanceOfBuckets(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	for _, s := range stateLayouts(t) {
		bits := 63 - s.shift
		half := int64(1) << (bits - 1)
		stored := func(bucket int64) uint64 { return uint64(bucket) & (1<<bits - 1) }
		wrapped := 0
		for range 2_000 {
			held := random.Int64N(1<<62) + half
			back := random.Int64N(half)
			if random.IntN(2) == 0 {
				back = random.Int64N(min(half, 100)) // near the window's edge
			}
			if random.IntN(4) == 0 {
				held = held>>bits<<bits - back/2 // across the wrap
			}
			if random.IntN(2) == 0 {
				back = -back
			}
			state := stored(held)<<s.shift | random.Uint64N(1<<s.shift)
			index := stored(held + back)
			for _, mark := range []uint64{0, pendingMark} {
				require.Equal(t, back, s.behind(state|mark, index))
				require.Equal(t, back >= s.slots, s.expired(state|mark, index))
			}
			if (held+back)>>bits != held>>bits {
				wrapped++
			}
		}
		require.Positive(t, wrapped)
	}
}

// Goal: no cell carries one pending state twice, whatever happens to it (ticket uniqueness), nor a
// settled state that a claim of an earlier key has settled. Method: random lives of one cell, of
// claims by clocks that disagree, kills, commits, counts and takeovers; every state it is claimed
// with is new, marked, not busy, and of the later of both buckets.
func TestNoClaimRepeatsAStateOfItsCell(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 20))
	again := 0
	for _, s := range stateLayouts(t) {
		bits := 63 - s.shift
		mask := uint64(1)<<bits - 1
		claimed, settled := map[uint64]bool{}, map[uint64]bool{}
		state, free := uint64(0), true
		newest := random.Int64N(1 << 50)
		clock := newest
		for range 100 {
			clock += random.Int64N(2*s.slots) * int64(random.IntN(2))
			index := uint64(clock-random.Int64N(s.slots+1)) & mask
			switch {
			case free || s.expired(state, index):
				before := state
				state = s.claim(state, index)
				require.False(t, claimed[state], "pending state %#x came twice", state)
				claimed[state] = true
				require.True(t, pending(state))
				require.NotEqual(t, tallyring.PairBusy, state)
				require.LessOrEqual(t, s.behind(state, index), int64(0), "before the claimer's")
				if before != 0 {
					require.LessOrEqual(t, s.behind(before, state>>s.shift&mask)*-1, int64(0))
					if s.behind(before, index) <= 0 {
						again++
					}
				}
				free = false
			case pending(state) && random.IntN(2) == 0:
				free = true // killed
			case pending(state):
				state = s.settled(state)
				require.False(t, pending(state))
				require.False(t, settled[state], "settled state %#x came twice", state)
				require.Zero(t, state<<(64-s.shift), "counts of a new key")
				settled[state] = true
			default:
				state = s.settled(state) | random.Uint64N(1<<s.shift) // counts
			}
		}
	}
	require.Positive(t, again, "no cell was claimed again under the index it had")
}

// Goal: the ticket counts through its whole range before it repeats, and never reaches into the
// index or makes the busy word. Method: claim and kill one cell under one index until the ticket
// wraps.
func TestTicketsUseTheirWholeRange(t *testing.T) {
	for _, s := range stateLayouts(t) {
		index := uint64(1)<<(63-s.shift) - 1 // all ones, as the busy word has
		first := s.claim(0, index)
		state, claims := first, uint64(1)
		limit := uint64(1) << min(s.shift-1, 17)
		for ; claims < limit; claims++ {
			state = s.claim(state, index)
			if state == first || state == tallyring.PairBusy || state>>s.shift != first>>s.shift {
				t.Fatalf("claim %d of shift %d is %#x, after %#x", claims, s.shift, state, first)
			}
		}
		if s.shift <= 18 {
			assert.Equal(t, first, s.claim(state, index), "the ticket wraps after its whole range")
		}
	}
}
