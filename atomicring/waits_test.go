package atomicring

import (
	"math"
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

// Goal: a turn is done in one attempt where nobody else is about. Method: the attempt that says
// Again, and the next one, of each verb.
func TestATurnTakesOneAttempt(t *testing.T) {
	eachStage(t, func(s *stage, slots int) {
		for ahead := 1; ahead <= 2*slots; ahead++ {
			next := at(newest + ahead)
			require.Equal(t, Again, s.g.Try(s.words, s.head(), next, 1, 1<<20))
			require.Equal(t, newest+ahead, s.bucket(s.head()))
			require.Equal(t, Admitted, s.g.Try(s.words, s.head(), next, 1, 1<<20))
		}
	})
	eachStage(t, func(s *stage, slots int) {
		require.Equal(t, Again, s.g.TryAdd(s.words, s.head(), at(newest+slots), 1))
		require.Equal(t, Admitted, s.g.TryAdd(s.words, s.head(), at(newest+slots), 1))
	})
	eachStage(t, func(s *stage, _ int) {
		s.seal()
		require.Equal(t, Again, s.g.TryRefund(s.words, s.head(), at(newest), 1))
		require.Equal(t, newest+1, s.bucket(s.head()))
		require.Equal(t, Admitted, s.g.TryRefund(s.words, s.head(), at(newest), 1))
	})
}
