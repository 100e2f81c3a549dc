package limiter_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// schedule returns the ticks at which n events of the costs pass one after another, from start on,
// when each is tried again after the time that its denial named.
func schedule(t *testing.T, l *limiter.Limiter, costs []uint64) []tallyring.Tick {
	t.Helper()
	var ticks []tallyring.Tick
	now := start
	for _, cost := range costs {
		d := l.TakeAt("a", now, cost)
		for !d.Allowed {
			require.Less(t, d.RetryAfter, tallyring.Never)
			now += tallyring.Tick(d.RetryAfter)
			d = l.TakeAt("a", now, cost)
		}
		ticks = append(ticks, d.At)
	}
	return ticks
}

// TestThousandWaitersHalfCanceled reserves for a thousand events of one key, and cancels half of
// them, some at once and some while time goes on. The others are admitted in order of arrival and
// at the ticks of the schedule, each of them is, and nothing else is counted.
func TestThousandWaitersHalfCanceled(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		const waiters, limit = 1000, 10
		clock := &tallyring.ManualClock{}
		clock.Set(start)
		l := k.build(t, limit, limiter.WithClock(clock))
		var kept []*limiter.Reservation
		var canceled []*limiter.Reservation
		var costs []uint64
		for i := range waiters {
			cost := uint64(1 + i%4/2*2) // 1 1 3 3
			r := l.Reserve("a", cost)
			// The first of all pass at once, so they are not canceled.
			if i < limit || i%2 == 0 {
				kept, costs = append(kept, r), append(costs, cost)
			} else {
				canceled = append(canceled, r)
			}
		}
		for _, r := range canceled[len(canceled)/4:] {
			require.True(t, r.Cancel())
			require.False(t, r.Cancel())
		}
		// The rest of them are far behind in the queue: they cancel when some were served.
		for range 20 {
			clock.Advance(window / 20)
		}
		_, pending := kept[len(kept)-1].Result()
		require.ErrorContains(t, pending, "still waiting")
		gone := 0
		for _, r := range canceled[:len(canceled)/4] {
			if !r.Cancel() {
				gone++
			}
		}
		if gone > 0 {
			t.Fatalf("%d of the first to cancel were served: choose a shorter time", gone)
		}
		for l.Stats().Waiting > 0 {
			clock.Advance(window)
		}
		fresh := k.build(t, limit)
		want := schedule(t, fresh, costs)
		var sum uint64
		for i, r := range kept {
			<-r.Done()
			d, err := r.Result()
			require.NoError(t, err)
			require.True(t, d.Allowed)
			require.Equal(t, want[i], d.At, "event %d", i)
			sum += costs[i]
		}
		for _, r := range canceled {
			_, err := r.Result()
			require.ErrorContains(t, err, "canceled")
		}
		require.Equal(t, fresh.PeekAt("a", clock.Now()), l.PeekAt("a", clock.Now()))
	})
}

// TestWaitersAreGoroutines lets 1,000 goroutines wait, of which half give up while they wait. The
// others all pass, and the limit is kept at every tick.
func TestWaitersAreGoroutines(t *testing.T) {
	const waiters, limit = 1000, 7
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	l, err := limiter.New(limit, window, limiter.WithLog(), limiter.WithClock(clock))
	require.NoError(t, err)
	for l.Allow("a") {
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("enough")
	var group sync.WaitGroup
	var passed, gaveUp atomic.Int64
	for i := range waiters {
		group.Go(func() {
			own := context.Background()
			if i%2 == 0 {
				own = ctx
			}
			switch err := l.Wait(own, "a"); {
			case err == nil:
				passed.Add(1)
			case errors.Is(err, reason):
				gaveUp.Add(1)
			}
		})
	}
	for l.Stats().Waiting < waiters {
		runtime.Gosched()
	}
	cancel(reason)
	for l.Stats().Waiting > waiters/2 {
		runtime.Gosched()
	}
	require.Equal(t, int64(0), passed.Load())
	for left := waiters / 2; left > 0; left -= limit {
		clock.Advance(window - 1)
		require.Equal(t, left, l.Stats().Waiting)
		clock.Advance(1)
		require.Equal(t, max(left-limit, 0), l.Stats().Waiting)
	}
	group.Wait()
	require.Equal(t, int64(waiters/2), passed.Load())
	require.Equal(t, int64(waiters/2), gaveUp.Load())
	require.ErrorIs(t, l.Wait(ctx, "a"), reason)
}

// TestMoreRoomServesTheQueue wakes who waits when a limit is raised, an event is refunded, the
// first in the queue goes away, or denied events pass.
func TestMoreRoomServesTheQueue(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		clock := &tallyring.ManualClock{}
		clock.Set(start)
		l := k.build(t, 4, limiter.WithClock(clock), limiter.WithMaxLimit(100))
		first := l.Take("a", 4)
		large, small, other := l.Reserve("a", 3), l.Reserve("a", 1), l.Reserve("b", 1)
		require.Equal(t, 2, l.Stats().Waiting)
		<-other.Done()
		l.RefundAt("a", first.At, 1)
		require.Equal(t, 2, l.Stats().Waiting, "the first asks for 3, and nobody overtakes")
		require.True(t, large.Cancel())
		<-small.Done()
		_, err := small.Result()
		require.NoError(t, err)

		more := l.Reserve("a", 2)
		require.NoError(t, l.SetLimit(6))
		<-more.Done()
		own := l.Reserve("a", 2)
		require.NoError(t, l.SetKeyLimit(l.Key("a"), 8))
		<-own.Done()
		never := l.Reserve("a", 8)
		require.NoError(t, l.SetKeyLimit(l.Key("a"), 7))
		<-never.Done()
		_, err = never.Result()
		require.EqualError(t, err,
			"limiter: cost 8 can never pass under limit 7, want at most that")
		require.ErrorContains(t, l.WaitN(context.Background(), "a", 9), "cost 9 can never pass")
		shadowed := l.Reserve("a", 1)
		require.Equal(t, 1, l.Stats().Waiting)
		l.SetShadow(true)
		<-shadowed.Done()
		require.NoError(t, l.Wait(context.Background(), "a"))
		require.Zero(t, l.Stats().Waiting)
	})
}

// TestWaitInRealTime waits on the default clock, whose alarms are the runtime's.
func TestWaitInRealTime(t *testing.T) {
	l, err := limiter.New(1, 20*time.Millisecond, limiter.WithLog())
	require.NoError(t, err)
	var ticks []tallyring.Tick
	for range 4 {
		d, err := l.WaitKey(context.Background(), l.Key("a"), 1)
		require.NoError(t, err)
		ticks = append(ticks, d.At)
	}
	for i := range ticks[1:] {
		require.GreaterOrEqual(t, ticks[i+1]-ticks[i], tallyring.Tick(20*time.Millisecond))
	}
}

// TestSeveralWaits waits for the slowest of two rates.
func TestSeveralWaits(t *testing.T) {
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	s, err := limiter.NewSeveral([]limiter.Rate{{1, time.Second}, {2, time.Minute}},
		limiter.WithLog(), limiter.WithClock(clock))
	require.NoError(t, err)
	var queue []*limiter.Reservation
	for range 4 {
		queue = append(queue, s.ReserveKey(s.Key("a"), 1))
	}
	clock.Advance(2 * time.Minute)
	for i, after := range []time.Duration{0, time.Second, time.Minute, time.Minute + time.Second} {
		d, err := queue[i].Result()
		require.NoError(t, err)
		require.Equal(t, start+tallyring.Tick(after), d.At)
	}
	require.NoError(t, s.Wait(context.Background(), "a"))
	raised := s.ReserveKey(s.Key("a"), 1)
	require.NoError(t, s.SetLimit(0, 9))
	require.NoError(t, s.SetLimit(1, 9))
	<-raised.Done()
}
