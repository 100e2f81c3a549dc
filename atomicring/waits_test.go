package atomicring

import (
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: a wait is finite and positive however long it is. Method: buckets of ten years, of which
// the last one that ticks reach counts; the waits of an event at tick 0 end beyond the last tick.
func TestAWaitLongerThanTimeIsNotNever(t *testing.T) {
	for slots := 1; slots <= 2; slots++ {
		w := tallyring.Window{Slots: slots, Width: tallyring.MaxLength}
		for _, f := range forms {
			if slots > 1 && !f.tagged {
				continue // its indexes do not reach so far
			}
			r := f.build(w)
			require.True(t, r.Add(math.MaxInt64, 5), f.name)
			d := r.Take(0, 1, 5)
			require.False(t, d.Allowed, f.name)
			require.Positive(t, d.RetryAfter, f.name)
			require.Less(t, d.RetryAfter, tallyring.Never, f.name)
			require.Positive(t, d.ResetAfter, f.name)
			require.Less(t, d.ResetAfter, tallyring.Never, f.name)
		}
	}
}

// Goal: a turn is done in one attempt where nobody else is about. Method: an attempt that says
// Again, and the next one, of each verb, on a ring whose first bucket is 0.
func TestATurnTakesOneAttempt(t *testing.T) {
	for _, slots := range []int{2, 3, 7} {
		for _, summed := range []bool{false, true} {
			g, err := NewTagged(tallyring.Window{Slots: slots, Width: stageWidth}, 0)
			require.NoError(t, err)
			if summed {
				g = g.Summed()
			}
			s := &stage{t, &g, make([]atomic.Uint64, g.Words())}
			require.Equal(t, Admitted, g.TryAdd(s.words, s.head(), 0, 5))
			for bucket := 1; bucket < 3*slots; bucket++ {
				require.Equal(t, Again, g.Try(s.words, s.head(), at(bucket), 1, 1<<20))
				require.Equal(t, bucket, s.bucket(s.head()))
				require.Equal(t, Admitted, g.Try(s.words, s.head(), at(bucket), 1, 1<<20))
			}
			later := at(5 * slots)
			require.Equal(t, Again, g.TryAdd(s.words, s.head(), later, 2))
			require.Equal(t, Admitted, g.TryAdd(s.words, s.head(), later, 2))
			s.seal()
			require.Equal(t, Again, g.TryRefund(s.words, s.head(), later, 1))
			require.Equal(t, 5*slots+1, s.bucket(s.head()))
			require.Equal(t, Admitted, g.TryRefund(s.words, s.head(), later, 1))
		}
	}
}
