package limiter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// script drives a limiter and the model with the same operations, through every verb and form of
// key, and compares each answer. Late ticks are given only for keys that are live at the latest
// tick: another key may have taken over the cell of one that is not.
type script struct {
	t      *testing.T
	l      *limiter.Limiter
	clock  *tallyring.ManualClock
	model  *model
	rng    *rand.Rand
	latest tallyring.Tick
	taken  map[string][]counted

	allowed, denied, late, refunded, changed int
}

func newScript(t *testing.T, k kind, seed uint64) *script {
	rng := rand.New(rand.NewPCG(seed, 1))
	limit := 1 + rng.Uint64N(40)
	clock := &tallyring.ManualClock{}
	return &script{
		t: t, clock: clock, model: newModel(k, limit), rng: rng,
		l:      k.build(t, limit, limiter.WithKeys(64), limiter.WithClock(clock)),
		latest: start + tallyring.Tick(rng.Int64N(int64(10*window))),
		taken:  map[string][]counted{},
	}
}

// step returns a step of time: none, a little, to the edges of buckets and windows, and beyond.
func (s *script) step() tallyring.Tick {
	width := int64(s.model.kind.width)
	if width == 0 {
		width = int64(window)
	}
	toEdge := width - int64(s.latest)%width
	length := int64(window)
	steps := []int64{0, 0, 1, 17, width / 7, width / 3, toEdge - 1, toEdge, toEdge + 1,
		width, width + 1, length / 5, length / 2, length - 1, length, length + 1, 2 * length}
	if s.rng.IntN(40) == 0 {
		steps = []int64{int64(10 * time.Hour), int64(365 * 24 * time.Hour)}
	}
	return tallyring.Tick(steps[s.rng.IntN(len(steps))])
}

// pick returns a key, and a tick for it that is the latest or late.
func (s *script) pick() (string, tallyring.Tick) {
	if s.rng.IntN(3) == 0 {
		s.latest += s.step()
	}
	key := string(rune('a' + s.rng.IntN(5)))
	if s.rng.IntN(5) == 0 && s.model.live(key, s.latest) {
		s.late++
		return key, s.latest - s.step()
	}
	return key, s.latest
}

func (s *script) cost() uint64 {
	costs := []uint64{0, 1, 1, 1, 1, 2, 3, 7, s.model.limit, s.model.limit + 1}
	return costs[s.rng.IntN(len(costs))]
}

func (s *script) run(operations int) {
	for range operations {
		key, now := s.pick()
		switch s.rng.IntN(12) {
		case 0, 1, 2, 3:
			s.allow(key, now, s.cost())
		case 4, 5, 6:
			s.take(key, now, s.cost())
		case 7:
			s.many(now)
		case 8, 9:
			s.peek(key, now)
		case 10:
			s.refund(key, now)
		case 11:
			s.change(key)
		}
	}
}

// allow asks through one of the verbs that answer yes or no.
func (s *script) allow(key string, now tallyring.Tick, cost uint64) {
	want := s.model.allow(key, now, cost)
	var got bool
	s.clock.Set(now)
	switch verb := s.rng.IntN(5); {
	case verb == 0 && cost == 1:
		got = s.l.Allow(key)
	case verb == 1:
		got = s.l.AllowN(key, cost)
	case verb == 2:
		got = s.l.AllowKey(s.l.Key(key), now, cost)
	case verb == 3:
		got = s.l.AllowKey(s.l.KeyBytes([]byte(key)), now, cost)
	default:
		got = s.l.AllowAt(key, now, cost)
	}
	require.Equal(s.t, want, got, "%s at %d, cost %d, limit %d", key, now, cost,
		s.model.limitOf(key))
	s.note(got)
}

func (s *script) note(allowed bool) {
	if allowed {
		s.allowed++
	} else {
		s.denied++
	}
}

// take asks for the whole answer, and holds each field against the model.
func (s *script) take(key string, now tallyring.Tick, cost uint64) {
	want := tallyring.Decision{
		Limit: s.model.limitOf(key), At: tallyring.Tick(s.model.place(key, now)),
	}
	want.Allowed = s.model.allow(key, now, cost)
	want.Remaining = s.model.remaining(key, now)
	var got tallyring.Decision
	s.clock.Set(now)
	switch s.rng.IntN(3) {
	case 0:
		got = s.l.Take(key, cost)
	case 1:
		got = s.l.TakeKey(s.l.Key(key), now, cost)
	default:
		got = s.l.TakeAt(key, now, cost)
	}
	want.RetryAfter, want.ResetAfter = got.RetryAfter, got.ResetAfter
	require.Equal(s.t, want, got, "%s at %d, cost %d", key, now, cost)
	require.Empty(s.t, s.model.wrongWait(key, now, cost, got),
		"%s at %d, cost %d: %+v", key, now, cost, got)
	s.note(got.Allowed)
	if got.Allowed && cost > 0 {
		s.taken[key] = append(s.taken[key], counted{int64(got.At), cost})
	}
}

// many decides on a batch in which keys repeat, and leaves the rest of a longer answer alone.
func (s *script) many(now tallyring.Tick) {
	var keys []limiter.Key
	var want []bool
	cost := s.cost()
	for range s.rng.IntN(9) {
		key := string(rune('a' + s.rng.IntN(5)))
		if now < s.latest && !s.model.live(key, s.latest) {
			continue
		}
		keys = append(keys, s.l.Key(key))
		want = append(want, s.model.allow(key, now, cost))
	}
	got := make([]bool, len(keys)+1)
	got[len(keys)] = true
	s.l.AllowMany(keys, now, cost, got)
	require.Equal(s.t, append(want, true), got, "batch at %d, cost %d", now, cost)
}

func (s *script) peek(key string, now tallyring.Tick) {
	want := s.model.read(key, now)
	got := s.l.PeekAt(key, now)
	require.InDelta(s.t, want.Estimate, got.Estimate, want.Estimate*1e-12, "%s at %d", key, now)
	got.Estimate = want.Estimate
	require.Equal(s.t, want, got, "%s at %d", key, now)
	require.Equal(s.t, s.l.PeekAt(key, now), s.l.PeekKey(s.l.Key(key), now))
}

// refund takes back what a take has counted, in part, in whole or too much, or what nobody has.
func (s *script) refund(key string, now tallyring.Tick) {
	at, cost := now, s.cost()
	if taken := s.taken[key]; len(taken) > 0 && s.rng.IntN(4) > 0 {
		e := taken[len(taken)-1-s.rng.IntN(min(len(taken), 6))]
		at = tallyring.Tick(e.at)
		s.refunded++
	}
	s.model.refund(key, at, cost)
	if s.rng.IntN(2) == 0 {
		s.l.RefundAt(key, at, cost)
	} else {
		s.l.RefundKey(s.l.Key(key), at, cost)
	}
	s.peek(key, max(now, s.latest))
}

// change sets the common limit or that of one key, or takes the latter away.
func (s *script) change(key string) {
	limit := s.rng.Uint64N(60)
	switch s.rng.IntN(12) {
	case 0:
		limit = tallyring.Unlimited
	case 1:
		limit = s.model.limitOf(key)
	}
	s.changed++
	switch s.rng.IntN(3) {
	case 0:
		if limit == tallyring.Unlimited {
			return // a cost of the limit and more would saturate
		}
		require.NoError(s.t, s.l.SetLimit(limit))
		s.model.limit = limit
		require.Equal(s.t, limit, s.l.Limit())
	case 1:
		require.NoError(s.t, s.l.SetKeyLimit(s.l.Key(key), limit))
		s.model.limits[key] = limit
	case 2:
		s.l.ClearKeyLimit(s.l.Key(key))
		delete(s.model.limits, key)
	}
	require.Equal(s.t, len(s.model.limits), s.l.StatsAt(s.latest).KeyLimits)
}

// TestEveryVerbAnswersLikeTheModel plays random scripts over every verb, form of key and kind of
// window, with late ticks, costs from 0 to more than the limit, refunds and changes of limits, and
// compares every answer with a model that remembers each event.
func TestEveryVerbAnswersLikeTheModel(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		t.Parallel()
		var allowed, denied, late, refunded, changed int
		for range rounds(150) {
			seed := rand.Uint64()
			t.Run(fmt.Sprintf("seed=%#x", seed), func(t *testing.T) {
				s := newScript(t, k, seed)
				s.run(400)
				require.Zero(t, s.l.StatsAt(s.latest).Refused)
				allowed, denied, late = allowed+s.allowed, denied+s.denied, late+s.late
				refunded, changed = refunded+s.refunded, changed+s.changed
			})
		}
		require.Greater(t, min(allowed, denied, late, refunded, changed), rounds(150),
			"some path was hardly taken")
	})
}
