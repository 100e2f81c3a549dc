package limiter_test

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// full returns a limiter of 4 events that has counted 3 of key a, and its clock.
func full(t *testing.T, k kind) (*limiter.Limiter, *tallyring.ManualClock) {
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	l := k.build(t, 4, limiter.WithClock(clock))
	require.True(t, l.AllowN("a", 3))
	return l, clock
}

// requireOver asserts that a reservation was admitted, by now.
func requireOver(t *testing.T, r *limiter.Reservation) {
	t.Helper()
	d, err := r.Result()
	require.NoError(t, err)
	require.True(t, d.Allowed)
}

// Goal: whoever gives a place up counts nothing, wherever the place is and whatever room there is.
// Method: one who waits for 3 behind whom another asks for the 1 that is left.
func TestACanceledReservationCountsNothing(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l, clock := full(t, k)
		large, small := l.Reserve("a", 3), l.Reserve("a", 1)
		require.True(t, small.Cancel())
		require.Equal(t, uint64(3), l.PeekAt("a", start).High)
		require.True(t, large.Cancel())
		require.Equal(t, uint64(3), l.PeekAt("a", start).High)
		clock.Advance(2 * window)
		require.Zero(t, l.PeekAt("a", clock.Now()).High)
	})
}

// Goal: when the first gives up, the next is served at once. Method: as above, the other one gives
// up.
func TestWhoIsNextIsServedWhenTheFirstGivesUp(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l, _ := full(t, k)
		large, small := l.Reserve("a", 3), l.Reserve("a", 1)
		require.True(t, large.Cancel())
		requireOver(t, small)
		require.Zero(t, l.Stats().Waiting)
	})
}

// Goal: one alarm serves as many as there is room for. Method: three who wait for all that is
// counted to leave.
func TestOneAlarmServesAllWhomTheLimitAdmits(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l, clock := full(t, k)
		var queue []*limiter.Reservation
		for _, cost := range []uint64{4, 1, 1, 2} {
			queue = append(queue, l.Reserve("a", cost))
		}
		require.Equal(t, 4, l.Stats().Waiting)
		for range 4 {
			clock.Advance(window)
		}
		for _, r := range queue {
			requireOver(t, r)
		}
	})
}

// Goal: who waits does not overtake those who wait already, though there is room for him. Method: a
// wait for the 1 that is left, behind one for 3. It must join the queue.
func TestAWaitJoinsTheQueue(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l, _ := full(t, k)
		large := l.Reserve("a", 3)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		result := make(chan error, 1)
		go func() { result <- l.WaitN(ctx, "a", 1) }()
		for l.Stats().Waiting < 2 { // ends: it joins the queue, or has a result
			require.Empty(t, result, "it has overtaken the queue")
			runtime.Gosched()
		}
		cancel()
		require.ErrorIs(t, <-result, context.Canceled)
		require.True(t, large.Cancel())
		require.Equal(t, uint64(3), l.PeekAt("a", start).High)
	})
}

// Goal: a wait says that it has passed if and only if it was counted, also where its context ends
// just before. Method: one processor, so that the context ends and time passes before the one who
// waits runs again. He must have been seen to pass after his context had ended.
func TestAWaitThatPassesAsItsContextEndsSaysSo(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	passed := 0
	for range 100 {
		clock := &tallyring.ManualClock{}
		clock.Set(start)
		l, err := limiter.New(1, window, limiter.WithFixedWindow(), limiter.WithClock(clock))
		require.NoError(t, err)
		require.True(t, l.Allow("a"))
		ctx, cancel := context.WithCancel(context.Background())
		result := make(chan error, 1)
		go func() { result <- l.Wait(ctx, "a") }()
		for l.Stats().Waiting == 0 {
			runtime.Gosched()
		}
		cancel()
		clock.Advance(window)
		err = <-result
		require.Equal(t, err == nil, l.PeekAt("a", clock.Now()).High == 1, "%v", err)
		if err == nil {
			passed++
		}
	}
	require.Positive(t, passed, "no wait passed after its context had ended")
}

// Goal: a wait for more than the limit fails at once, wherever in the queue its place would be, and
// so does any wait under limit 0; in shadow mode none does. Method: such waits behind another.
func TestAWaitForMoreThanTheLimitFailsAtOnceInAQueue(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l, clock := full(t, k)
		first := l.Reserve("a", 4)
		_, err := l.Reserve("a", 5).Result()
		require.EqualError(t, err,
			"limiter: cost 5 can never pass under limit 4, want at most that")
		require.ErrorContains(t, l.WaitN(context.Background(), "a", 5), "cost 5 can never pass")
		second := l.Reserve("a", 4)
		require.Equal(t, 2, l.Stats().Waiting)
		require.True(t, second.Cancel())
		clock.Advance(2 * window)
		requireOver(t, first)
		require.NoError(t, l.SetLimit(0))
		_, err = l.Reserve("a", 0).Result()
		require.ErrorContains(t, err, "under limit 0")
		require.Zero(t, l.Stats().Waiting)
		l.SetShadow(true)
		requireOver(t, l.Reserve("a", 5))
	})
}

// restless is a clock that another goroutine moves just as an alarm is set: it goes on by a step
// before it takes the alarm.
type restless struct {
	tallyring.ManualClock
	step time.Duration
}

func (c *restless) CallAt(due tallyring.Tick, f func()) func() bool {
	step := c.step
	c.step = 0
	c.Advance(step)
	return c.ManualClock.CallAt(due, f)
}

// Goal: nobody is forgotten because time moves while his alarm is set, and nobody is admitted late
// by that time. Method: time moves by less than the wait, by all of it and by more; then to the end
// of the wait, if that is not over.
func TestTheClockMayMoveWhileAnAlarmIsSet(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for _, part := range []time.Duration{0, 1, 2, 3, 5} {
			clock := &restless{}
			clock.Set(start)
			l := k.build(t, 4, limiter.WithClock(clock))
			require.True(t, l.AllowN("a", 4))
			wait := l.Take("a", 1).RetryAfter
			clock.step = wait * part / 3
			r := l.Reserve("a", 1)
			if part < 3 {
				clock.Set(start + tallyring.Tick(wait) - 1)
				require.Equal(t, 1, l.Stats().Waiting)
				clock.Advance(1)
			}
			requireOver(t, r)
		}
	})
}

// Goal: where the wait ends after the last tick there is, no alarm is set that would ring at once
// and for ever. Method: a full window at the end of time; a refund serves who waits.
func TestAWaitBeyondTheEndOfTimeSetsNoAlarm(t *testing.T) {
	clock := &tallyring.ManualClock{}
	clock.Set(math.MaxInt64 - 1000)
	l, err := limiter.New(4, window, limiter.WithClock(clock))
	require.NoError(t, err)
	d := l.Take("a", 4)
	r := l.Reserve("a", 1)
	require.Equal(t, tallyring.Tick(math.MaxInt64), clock.Advance(window))
	require.Equal(t, 1, l.Stats().Waiting)
	l.RefundAt("a", d.At, 1)
	requireOver(t, r)
}
