package limiter_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// silent is a clock whose alarms never ring. So whoever waits is served by what others do alone.
type silent struct{ tallyring.ManualClock }

func (*silent) CallAt(tallyring.Tick, func()) func() bool { return func() bool { return true } }

// Goal: those who wait for all rates are served when one of the rates has more room, by whatever
// way it came to it. Method: a key that one of two rates denies, and what a caller can do to the
// limiter of that rate.
func TestMoreRoomInOneRateServesThoseWhoWaitForAll(t *testing.T) {
	for name, act := range map[string]func(l *limiter.Limiter, at tallyring.Tick){
		"refund": func(l *limiter.Limiter, at tallyring.Tick) { l.RefundAt("a", at, 1) },
		"limit":  func(l *limiter.Limiter, _ tallyring.Tick) { _ = l.SetLimit(2) },
		"key limit": func(l *limiter.Limiter, _ tallyring.Tick) {
			_ = l.SetKeyLimit(l.Key("a"),
				2)
		},
		"shadow": func(l *limiter.Limiter, _ tallyring.Tick) { l.SetShadow(true) },
		"clear": func(l *limiter.Limiter, _ tallyring.Tick) {
			_ = l.SetKeyLimit(l.Key("a"), 1)
			_ = l.SetLimit(2) // serves nobody: the key has a limit of its own
			l.ClearKeyLimit(l.Key("a"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &silent{}
			clock.Set(start)
			s, err := limiter.NewSeveral([]limiter.Rate{{4, time.Second}, {1, time.Minute}},
				limiter.WithClock(clock), limiter.WithMaxLimit(9))
			require.NoError(t, err)
			j := s.Take("a", 1)
			require.True(t, j.Allowed)
			r := s.ReserveKey(s.Key("a"), 1)
			_, err = r.Result()
			require.ErrorContains(t, err, "still waiting")
			act(s.Limiters()[1], j.CountedAt(1))
			requireOver(t, r)
		})
	}
}

// Goal: a charge that is taken back serves those whom it may have kept waiting: who waits for the
// key of the limiter, and who waits for several. Nobody else is served. Method: alarms do not ring
// and time has passed, so whoever is asked for passes. An event that makes a demand twice, of which
// the limit holds one, is charged to the demand before it, and gives that back.
func TestAChargeTakenBackServesThoseWhoWait(t *testing.T) {
	clock := &silent{}
	clock.Set(start)
	s, err := limiter.NewSeveral([]limiter.Rate{{4, window}, {4, window}},
		limiter.WithClock(clock))
	require.NoError(t, err)
	one, two := s.Limiters()[0], s.Limiters()[1]
	a, b := s.Key("a"), s.Key("b")
	require.True(t, s.TakeKey(a, start, 4).Allowed)
	require.True(t, one.AllowKey(b, start, 4))
	every, single, other := s.ReserveKey(a, 1), one.ReserveKey(a, 1), one.ReserveKey(b, 1)
	clock.Advance(3 * window)
	now := clock.Now()
	require.True(t, two.AllowAt("c", now, 3))
	for _, r := range []*limiter.Reservation{every, single, other} {
		_, err := r.Result()
		require.ErrorContains(t, err, "still waiting")
	}
	demands := []limiter.Demand{{one, a}, {two, two.Key("c")}, {two, two.Key("c")}}
	require.False(t, limiter.AllowAll(demands, now, 2), "the rest of c is 1")
	_, err = every.Result()
	require.ErrorContains(t, err, "still waiting", "nothing was charged to a")
	require.False(t, limiter.AllowAll(demands, now, 1))
	requireOver(t, every)
	requireOver(t, single)
	_, err = other.Result()
	require.ErrorContains(t, err, "still waiting")
	require.Equal(t, uint64(2), one.PeekKey(a, now).High, "those two, and not the event")
	require.Equal(t, uint64(3), two.PeekAt("c", now).High)
}

// Goal: an event of several rates that is counted by the first and finds no cell in the next serves
// who waits for the first, whether it was a decision or the turn of one who waits for both. Method:
// the cells of the first rate have expired, those of the second are taken.
func TestARateWithoutACellServesThoseWhoWaitForAnother(t *testing.T) {
	for _, waiting := range []bool{false, true} {
		clock := &silent{}
		clock.Set(start)
		s, err := limiter.NewSeveral([]limiter.Rate{{4, time.Second}, {4, time.Hour}},
			limiter.WithClock(clock), limiter.WithKeys(1))
		require.NoError(t, err)
		short, long := s.Limiters()[0], s.Limiters()[1]
		key := s.Key("a")
		require.True(t, short.AllowKey(key, start, 4))
		r := short.ReserveKey(key, 1)
		for i := limiter.Key(2); long.AllowKey(i, start, 1); i++ {
		}
		clock.Advance(3 * time.Second)
		if waiting {
			_, err = s.ReserveKey(key, 1).Result()
			require.ErrorContains(t, err, "still waiting")
		} else {
			j := s.TakeKey(key, clock.Now(), 1)
			require.False(t, j.Allowed)
			require.Equal(t, 1, j.DeniedBy)
		}
		requireOver(t, r)
		require.Equal(t, uint64(1), short.PeekKey(key, clock.Now()).High)
	}
}

// Goal: keys without a cell share one window under the policy Overflow, so what is given back for
// one of them serves those who wait for another. Method: a full limiter whose shared window is
// spent, by itself and as one of several; its clock rings no alarm.
func TestSharedRoomServesWhoeverWaits(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		clock := &silent{}
		clock.Set(start)
		l := k.build(t, 5, limiter.WithClock(clock), limiter.WithKeys(1),
			limiter.WithFullPolicy(limiter.Overflow))
		fill(t, l, start)
		require.True(t, l.AllowAt("one", start, 4), "5 with the event that ended the filling")
		r := l.Reserve("another", 1)
		_, err := r.Result()
		require.ErrorContains(t, err, "still waiting")
		l.RefundAt("one", start, 1)
		requireOver(t, r)
		_, err = r.Result()
		require.NoError(t, err)
	})
}

// stuck is a clock on which nobody gets an alarm set before open is closed.
type stuck struct {
	tallyring.ManualClock
	entered, open chan struct{}
	enter         sync.Once
}

func (c *stuck) CallAt(due tallyring.Tick, f func()) func() bool {
	c.enter.Do(func() { close(c.entered) })
	<-c.open
	return c.ManualClock.CallAt(due, f)
}

// Goal: who stops while setting an alarm, with the lock of a queue, stops no other verb (rule S12);
// what they made room for is found once it goes on, however many they were, and nothing is kept of
// them before. Method: a clock that holds the first of a queue; all the verbs that serve queues.
func TestAStalledWaiterStopsNobodyWhoDecides(t *testing.T) {
	for _, refunds := range []int{1, 3, 1000} {
		clock := &stuck{entered: make(chan struct{}), open: make(chan struct{})}
		clock.Set(start)
		l, err := limiter.New(4, window, limiter.WithClock(clock), limiter.WithMaxLimit(2000))
		require.NoError(t, err)
		require.NoError(t, l.SetLimit(2000))
		require.True(t, l.AllowN("a", 2000))
		reserved := make(chan *limiter.Reservation)
		go func() { reserved <- l.Reserve("a", 1000) }()
		<-clock.entered

		require.False(t, l.Allow("a"))
		for range refunds {
			l.RefundAt("a", start, 1)
		}
		demands := []limiter.Demand{{l, l.Key("b")}, {l, l.Key("a")}, {l, l.Key("a")}}
		require.False(t, limiter.AllowAll(demands, start, uint64(refunds)))
		require.Equal(t, 1, l.Stats().Waiting)
		require.NoError(t, l.SetKeyLimit(l.Key("a"), 1999))
		l.ClearKeyLimit(l.Key("a"))
		l.SetShadow(false)
		close(clock.open)
		r := <-reserved
		if refunds < 1000 {
			_, err := r.Result()
			require.ErrorContains(t, err, "still waiting")
			clock.Advance(2 * window)
		}
		requireOver(t, r)
		_, err = r.Result()
		require.NoError(t, err)
	}
}
