package limiter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// kindsAndHot runs a test for every kind of window, and for a hot key of each that can have one.
func kindsAndHot(t *testing.T, test func(t *testing.T, k kind)) {
	each(t, test)
	for _, k := range kinds {
		if k.slots == 0 {
			continue
		}
		k.name += " hot"
		k.opts = append([]limiter.Option{limiter.WithHotKeys("a")}, k.opts...)
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

// TestObservedEventsCountWithoutADecision takes a key beyond its limit by observing: everything is
// denied then, and what is above the limit has to leave the window as well.
func TestObservedEventsCountWithoutADecision(t *testing.T) {
	kindsAndHot(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		require.True(t, l.AllowAt("a", start, 4))
		require.True(t, l.ObserveAt("a", start, 0))
		require.True(t, l.ObserveAt("a", start+1, 20))
		require.Equal(t, uint64(24), l.PeekAt("a", start+1).High)
		d := l.TakeAt("a", start+1, 1)
		require.False(t, d.Allowed)
		require.Zero(t, d.Remaining)
		require.Positive(t, d.RetryAfter)
		require.False(t, l.AllowAt("a", start+tallyring.Tick(d.RetryAfter), 1))
		require.True(t, l.AllowAt("a", start+1+tallyring.Tick(d.RetryAfter), 1))
		require.True(t, l.AllowAt("b", start, 10), "another key knows nothing of it")
		l.RefundAt("a", start, 24)
	})
}

// TestObserveFollowsThePolicy counts nothing for a key that finds no cell.
func TestObserveFollowsThePolicy(t *testing.T) {
	l, err := limiter.New(10, window, limiter.WithKeys(1))
	require.NoError(t, err)
	lost := 0
	for key := range 1000 {
		if !l.ObserveKey(limiter.Key(key+2), start, 1) {
			lost++
		}
	}
	require.Equal(t, l.StatsAt(start).Refused, uint64(lost))
	require.Positive(t, lost)
}

// TestDeniedEventsCountWhereAsked keeps a client out that does not stop sending, with the option,
// and lets it in again without.
func TestDeniedEventsCountWhereAsked(t *testing.T) {
	kindsAndHot(t, func(t *testing.T, k kind) {
		if k.slots < 2 {
			return // the log refuses the option, and a fixed window forgets at each boundary
		}
		plain := k.build(t, 10)
		counting := k.build(t, 10, limiter.WithCountDenied())
		later := start + 3*tallyring.Tick(window)
		for now := start; now <= later; now += tallyring.Tick(window) / 30 {
			first := now == start
			require.Equal(t, first, counting.TakeAt("a", now, 10).Allowed)
			if first {
				require.True(t, plain.AllowAt("a", now, 10))
				require.False(t, counting.AllowAt("a", now, 10))
				require.False(t, counting.AllowAt("a", now, 11), "what can never pass counts too")
			}
		}
		require.True(t, plain.AllowAt("a", later, 10))
		require.Greater(t, counting.PeekAt("a", later).High, uint64(10))
		require.True(t, counting.AllowAt("a", later+2*ringOf(k), 10), "it paused for a whole ring")
	})
}

// ringOf returns the time after which nothing of a kind's window is left.
func ringOf(k kind) tallyring.Tick { return tallyring.Tick(k.slots) * tallyring.Tick(k.width) }

// TestShadowDecidesAndDeniesNothing compares a limiter in shadow mode with one that denies: it lets
// everything pass, says what it would have denied, and counts and remembers the same.
func TestShadowDecidesAndDeniesNothing(t *testing.T) {
	kindsAndHot(t, func(t *testing.T, k kind) {
		strict := k.build(t, 10)
		shadow := k.build(t, 10, limiter.WithShadow())
		require.True(t, shadow.Shadow())
		denied := uint64(0)
		for i := range 200 {
			now := start + tallyring.Tick(i)*tallyring.Tick(window)/20
			want, got := strict.TakeAt("a", now, uint64(i%4)), shadow.TakeAt("a", now, uint64(i%4))
			require.True(t, got.Allowed)
			if !want.Allowed {
				denied++
				require.Positive(t, got.RetryAfter)
				want.Allowed, want.At = true, tallyring.Uncounted
			}
			require.Equal(t, want, got)
			require.Equal(t, strict.PeekAt("a", now), shadow.PeekAt("a", now))
		}
		require.Positive(t, denied)
		require.Equal(t, denied, shadow.StatsAt(start).ShadowDenied)
		require.Zero(t, strict.StatsAt(start).ShadowDenied)
		shadow.SetShadow(false)
		require.False(t, shadow.AllowAt("a", start+12*tallyring.Tick(window), 11))
	})
}

// TestAShadowAmongSeveralLimits lets a limit in shadow mode take part: what it denies passes, is
// counted by the others, and is not taken back from it.
func TestAShadowAmongSeveralLimits(t *testing.T) {
	shadow, err := limiter.New(2, window, limiter.WithShadow())
	require.NoError(t, err)
	real, err := limiter.New(4, window)
	require.NoError(t, err)
	demands := []limiter.Demand{{shadow, shadow.Key("a")}, {real, real.Key("a")}}
	var last limiter.Joint
	for i := range 4 {
		last = limiter.TakeAll(demands, start, 1)
		require.True(t, last.Allowed, "event %d", i)
	}
	require.Equal(t, tallyring.Tick(-1), last.CountedAt(0))
	require.Equal(t, start, last.CountedAt(1))
	limiter.RefundAll(demands, last, 1)
	require.Equal(t, uint64(2), shadow.PeekAt("a", start).High)
	require.Equal(t, uint64(3), real.PeekAt("a", start).High)
}

func TestManyInShadow(t *testing.T) {
	l, err := limiter.New(2, window, limiter.WithShadow())
	require.NoError(t, err)
	key := l.Key("a")
	var allowed [5]bool
	l.AllowMany([]limiter.Key{key, key, key, key, key}, start, 1, allowed[:])
	require.Equal(t, [5]bool{true, true, true, true, true}, allowed)
	require.Equal(t, uint64(3), l.StatsAt(start).ShadowDenied)
}

// Goal: of an event with several demands, Stats.ShadowDenied counts what passed in shadow mode
// alone, once, and nothing where another demand denied it. A question of cost 0 passes as well.
// Method: a shadow of 2 beside a limit of 4, and ten events.
func TestAShadowCountsWhatPassedAmongSeveralOnce(t *testing.T) {
	kindsAndHot(t, func(t *testing.T, k kind) {
		shadow, other := k.build(t, 2, limiter.WithShadow()), k.build(t, 4)
		demands := []limiter.Demand{{shadow, shadow.Key("a")}, {other, other.Key("a")}}
		for i := range 10 {
			require.Equal(t, i < 4, limiter.AllowAll(demands, start, 1))
		}
		require.Equal(t, uint64(2), shadow.StatsAt(start).ShadowDenied)
		require.NoError(t, shadow.SetLimit(0))
		require.True(t, shadow.TakeAt("a", start, 0).Allowed)
		require.True(t, limiter.AllowAll(demands, start, 0))
		require.Equal(t, uint64(4), shadow.StatsAt(start).ShadowDenied)
	})
}

// Goal: an observed tick that is far ahead of the clock is told of, once, like that of a decision.
func TestObservedTicksAheadAreCounted(t *testing.T) {
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	kindsAndHot(t, func(t *testing.T, k kind) {
		l := k.build(t, 2, limiter.WithClock(clock))
		require.True(t, l.ObserveAt("a", start+10*tallyring.Tick(window), 1))
		require.Equal(t, uint64(1), l.StatsAt(start).Ahead)
	})
}

// Goal: under the policy Allow, what is observed of a key without a cell is not counted, and
// Observe says so.
func TestObserveUnderThePolicyAllow(t *testing.T) {
	l, err := limiter.New(10, window, limiter.WithKeys(1), limiter.WithFullPolicy(limiter.Allow))
	require.NoError(t, err)
	counted := uint64(0)
	for key := limiter.Key(2); key < 1002; key++ {
		seen := l.PeekKey(key, start).High
		if l.ObserveKey(key, start, 1) {
			seen++
		}
		require.Equal(t, seen, l.PeekKey(key, start).High)
		counted += seen
	}
	require.Equal(t, 1000-l.StatsAt(start).Refused, counted)
	require.Positive(t, l.StatsAt(start).Refused)
}

// Goal: where denied events count, who waits as long as a denial says passes, and not a nanosecond
// before. Method: a key that was asked too often, on all kinds of limiters; the nanosecond before
// is tried on a copy that saw the same.
func TestWaitsAreExactWhereDeniedEventsCount(t *testing.T) {
	kindsAndHot(t, func(t *testing.T, k kind) {
		if k.slots == 0 {
			return // a log counts no denied events
		}
		for _, tries := range []int{11, 15, 40} {
			l := k.build(t, 10, limiter.WithCountDenied())
			early := k.build(t, 10, limiter.WithCountDenied())
			var d tallyring.Decision
			for i := range tries {
				now := start + tallyring.Tick(i)*tallyring.Tick(window)/100
				d = l.TakeAt("a", now, 1)
				require.Equal(t, d, early.TakeAt("a", now, 1))
			}
			require.False(t, d.Allowed)
			then := start + tallyring.Tick(tries-1)*tallyring.Tick(window)/100 +
				tallyring.Tick(d.RetryAfter)
			require.False(t, early.TakeAt("a", then-1, 1).Allowed)
			require.True(t, l.TakeAt("a", then, 1).Allowed, "%d tries", tries)
		}
	})
}

// Goal: a refund of an event that passed uncounted takes nothing, at the first ticks that there are
// as anywhere.
func TestARefundAtUncountedTakesNothingAtTickZero(t *testing.T) {
	kindsAndHot(t, func(t *testing.T, k kind) {
		l := k.build(t, 2, limiter.WithShadow())
		require.True(t, l.AllowAt("a", 0, 2))
		d := l.TakeAt("a", 0, 1)
		require.True(t, d.Allowed)
		require.Equal(t, tallyring.Uncounted, d.At)
		l.RefundAt("a", d.At, 1)
		require.Equal(t, uint64(2), l.PeekAt("a", 0).High)
	})
}
