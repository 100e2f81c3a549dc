package limiter_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// fill counts once on new keys, all at one tick, until one finds no cell. It returns their number.
func fill(t *testing.T, l *limiter.Limiter, now tallyring.Tick) int {
	t.Helper()
	for i := range int(l.StatsAt(now).Cells) + 1 {
		l.AllowAt(fmt.Sprintf("fill-%d", i), now, 1)
		if l.StatsAt(now).Refused > 0 {
			return i
		}
	}
	require.Fail(t, "more keys than cells, and none was refused")
	return 0
}

// TestAKeyWithoutACellFollowsThePolicy fills a limiter, then sends events of a new key: Deny
// denies them, Allow admits all of them, Overflow holds all such keys to one budget. Keys with a
// cell go on.
func TestAKeyWithoutACellFollowsThePolicy(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for policy, want := range map[limiter.FullPolicy]int{
			limiter.Deny: 0, limiter.Allow: 80, limiter.Overflow: 10,
		} {
			l := k.build(t, 10, limiter.WithKeys(30), limiter.WithFullPolicy(policy))
			held := fill(t, l, start)
			require.GreaterOrEqual(t, held, 30, "the keys asked for always fit")
			before := l.StatsAt(start)
			passed := 0
			if policy == limiter.Overflow {
				passed = 1 // the key that ended the filling
			}
			for i := range 80 {
				if l.AllowAt(fmt.Sprintf("new-%d", i%2), start, 1) {
					passed++
				}
			}
			require.Equal(t, want, passed, "policy %d", policy)
			after := l.StatsAt(start)
			require.Equal(t, before.Refused+80, after.Refused, "policy %d", policy)
			require.Equal(t, before.Live, after.Live)
			require.Equal(t, before.Bytes, after.Bytes)
			require.Equal(t, 9, admitted(l, "fill-0", start, 20), "who has a cell keeps his budget")
			require.False(t, l.AllowAt("new-1", start, 11), "above the limit, under any policy")
		}
	})
}

// TestDecisionsWithoutACell looks at each field of what Take says where no cell is free.
func TestDecisionsWithoutACell(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for _, policy := range []limiter.FullPolicy{limiter.Deny, limiter.Allow, limiter.Overflow} {
			l := k.build(t, 10, limiter.WithKeys(30), limiter.WithFullPolicy(policy))
			fill(t, l, start)
			d := l.TakeAt("new", start, 2)
			want := tallyring.Decision{Limit: 10, At: start}
			switch policy {
			case limiter.Deny:
				want.RetryAfter = window
			case limiter.Allow:
				want.Allowed, want.Remaining, want.At = true, 10, tallyring.Uncounted
			case limiter.Overflow:
				want.Allowed, want.Remaining, want.ResetAfter = true, 7, d.ResetAfter
			}
			require.Equal(t, want, d, "policy %d", policy)
			require.Equal(t, tallyring.Never, l.TakeAt("new", start, 11).RetryAfter)
			require.True(t, l.TakeAt("new", start, 0).Allowed, "asking needs no cell")
			require.NoError(t, l.SetLimit(0))
			require.Equal(t, tallyring.Decision{At: start, RetryAfter: tallyring.Never},
				l.TakeAt("new", start, 1))
		}
	})
}

// TestARefundOfAnUncountedEventIsNone lets events pass that are not counted, since no cell is free,
// alone and beside another demand. When their key has got a cell, their refunds take nothing from
// it.
func TestARefundOfAnUncountedEventIsNone(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10, limiter.WithKeys(30), limiter.WithFullPolicy(limiter.Allow))
		other := k.build(t, 10)
		fill(t, l, 0)
		alone := l.TakeAt("new", 0, 2)
		require.True(t, alone.Allowed)
		demands := []limiter.Demand{{l, l.Key("new")}, {other, other.Key("new")}}
		joint := limiter.TakeAll(demands, 0, 3)
		require.True(t, joint.Allowed)
		require.Equal(t, tallyring.Uncounted, joint.CountedAt(0))
		require.Equal(t, uint64(3), other.PeekAt("new", 0).High)
		require.Zero(t, l.StatsAt(0).ShadowDenied)

		now := 2 * tallyring.Tick(window)
		require.Equal(t, 4, admitted(l, "new", now, 4))
		l.RefundAt("new", alone.At, 2)
		limiter.RefundAll(demands, joint, 3)
		require.Equal(t, uint64(4), l.PeekAt("new", now).High)
		require.Zero(t, other.PeekAt("new", 0).High)
	})
}

// TestOverflowTakesRefunds gives back what the shared window counted.
func TestOverflowTakesRefunds(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10, limiter.WithKeys(30), limiter.WithFullPolicy(limiter.Overflow))
		fill(t, l, start)
		now := start + 1
		d := l.TakeAt("new", now, 9)
		require.True(t, d.Allowed)
		require.False(t, l.AllowAt("other", now, 1), "9 and the one that ended the filling")
		l.RefundAt("new", d.At, 9)
		require.Equal(t, 9, admitted(l, "other", now, 20))
	})
}

// TestTimeFreesCells lets a full limiter idle: new keys get the cells of keys that count nothing.
func TestTimeFreesCells(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10, limiter.WithKeys(30))
		held := fill(t, l, start)
		require.EqualValues(t, held, l.StatsAt(start).Live)
		require.Zero(t, l.StatsAt(start).TakenOver)
		later := start + tallyring.Tick(2*window)
		s := l.StatsAt(later)
		require.EqualValues(t, held, s.Expired)
		require.Zero(t, s.Live)
		for i := range 30 {
			require.Equal(t, 10, admitted(l, fmt.Sprintf("new-%d", i), later, 12))
		}
		s = l.StatsAt(later)
		require.EqualValues(t, 30, s.Live)
		require.Positive(t, s.TakenOver)
		require.EqualValues(t, 1, s.Refused, "the one that ended the filling")
	})
}

// TestAFloodOfKeysForgivesNobody is the row of the field's faults: ten thousand keys, A is denied,
// a hundred thousand new keys come, and A is still denied, under every policy. A key that finds no
// cell has looked at many, which takes long under the race detector, so there are fewer of all
// then.
func TestAFloodOfKeysForgivesNobody(t *testing.T) {
	keys, flood := 10_000, 100_000
	if hurried() {
		keys, flood = 1000, 3000
	}
	each(t, func(t *testing.T, k kind) {
		t.Parallel()
		for _, policy := range []limiter.FullPolicy{limiter.Deny, limiter.Allow, limiter.Overflow} {
			l := k.build(t, 10, limiter.WithKeys(keys), limiter.WithFullPolicy(policy))
			require.Equal(t, 10, admitted(l, "A", start, 20))
			var key [8]byte
			for i := range flood {
				binary.LittleEndian.PutUint64(key[:], uint64(i))
				l.AllowKey(l.KeyBytes(key[:]), start+tallyring.Tick(i), 1)
			}
			now := start + tallyring.Tick(flood)
			require.Zero(t, admitted(l, "A", now, 20), "policy %d", policy)
			s := l.StatsAt(now)
			require.Zero(t, s.TakenOver, "no live key lost its cell")
			require.GreaterOrEqual(t, s.Live, uint64(keys))
			require.Positive(t, s.Refused, "the flood was no flood")
			require.EqualValues(t, flood+1, s.Live+s.Refused)
		}
	})
}

// TestStatsCountEachThingOnce takes a limiter through one event of every kind.
func TestStatsCountEachThingOnce(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		clock := &tallyring.ManualClock{}
		clock.Set(start)
		l := k.build(t, 10, limiter.WithKeys(30), limiter.WithClock(clock))
		empty := l.Stats()
		require.GreaterOrEqual(t, empty.Cells, uint64(30))
		require.Equal(t, limiter.Stats{Cells: empty.Cells, Bytes: empty.Bytes}, empty)
		if k.slots > 0 {
			require.GreaterOrEqual(t, empty.Bytes, 16*30, "memory is taken at once")
		}
		for i := range 7 {
			require.True(t, l.Allow(fmt.Sprint(i)))
		}
		require.EqualValues(t, 7, l.Stats().Live)
		clock.Advance(2 * window)
		require.True(t, l.Allow("0"))
		s := l.Stats()
		require.EqualValues(t, 1, s.Live)
		require.EqualValues(t, 6, s.Expired)
		require.Zero(t, s.Ahead)
		require.Equal(t, s, l.StatsAt(clock.Now()))
		require.EqualValues(t, 7, l.StatsAt(start+tallyring.Tick(window)/2).Live, "as of then")
	})
}

// TestAheadCountsTicksBeyondOneWindow gives ticks at and around one window after the clock, through
// every verb that counts, and lets the clock follow.
func TestAheadCountsTicksBeyondOneWindow(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		clock := &tallyring.ManualClock{}
		clock.Set(start)
		l := k.build(t, 10, limiter.WithClock(clock))
		ahead := func() uint64 { return l.StatsAt(start).Ahead }
		edge := start + tallyring.Tick(window)
		for _, now := range []tallyring.Tick{-1, 0, start - 1, start, start + 1, edge - 1, edge} {
			l.AllowAt("a", now, 1)
			l.TakeAt("a", now, 1)
		}
		require.Zero(t, ahead())
		l.AllowAt("b", edge+1, 1)
		require.EqualValues(t, 1, ahead())
		l.AllowKey(l.Key("b"), edge+1, 1)
		l.TakeAt("b", edge+1, 1)
		l.TakeKey(l.Key("b"), edge+tallyring.Tick(time.Hour), 1)
		require.EqualValues(t, 4, ahead())
		l.AllowMany([]limiter.Key{1, 2, 3}, edge+1, 1, make([]bool, 3))
		require.EqualValues(t, 5, ahead(), "one tick was given")
		clock.Advance(1)
		l.AllowAt("b", edge+1, 1)
		l.Allow("c")
		l.Take("c", 1)
		require.EqualValues(t, 5, ahead(), "the clock has followed")
		l.AllowAt("b", edge+2, 1)
		require.EqualValues(t, 6, ahead())
	})
}
