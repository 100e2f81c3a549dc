package limiter_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// queueScript drives the queues of a limiter and the model with the same operations, and compares
// the fate of every reservation after each.
type queueScript struct {
	t       *testing.T
	l       *limiter.Limiter
	clock   *tallyring.ManualClock
	model   *queueModel
	rng     *rand.Rand
	waiters []reserved
	taken   []event

	latest tallyring.Tick
	late   int // steps that end before it
	done   map[fate]int
	back   int // refunds
}

// reserved is a reservation and its model.
type reserved struct {
	key   string
	is    *limiter.Reservation
	model *waiter
}

// event is one that was counted.
type event struct {
	key  string
	at   tallyring.Tick
	cost uint64
}

func newQueueScript(t *testing.T, k kind, rng *rand.Rand) *queueScript {
	limit := 1 + rng.Uint64N(8)
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	return &queueScript{t: t, clock: clock, latest: start, rng: rng, done: map[fate]int{},
		model: newQueueModel(k, limit, start),
		l: k.build(t, limit, limiter.WithClock(clock), limiter.WithMaxLimit(100),
			limiter.WithKeys(64))}
}

func (s *queueScript) run(operations int) {
	for range operations {
		key, cost := string(rune('a'+s.rng.IntN(2))), s.rng.Uint64N(s.model.limitOf("a")%20+2)
		switch s.rng.IntN(12) {
		case 0, 1, 2, 3:
			s.waiters = append(s.waiters,
				reserved{key, s.l.Reserve(key, cost), s.model.reserve(key, cost)})
		case 4:
			s.cancel()
		case 5, 6, 7:
			s.step()
		case 8:
			s.take(key, cost)
		case 9:
			s.refund()
		case 10:
			s.change(key)
		case 11:
			if s.rng.IntN(4) == 0 {
				s.model.shadow = !s.model.shadow
				s.l.SetShadow(s.model.shadow)
				s.model.serveAll()
			}
		}
		s.compare()
	}
}

func (s *queueScript) cancel() {
	if len(s.waiters) == 0 {
		return
	}
	w := s.waiters[s.rng.IntN(len(s.waiters))]
	require.Equal(s.t, s.model.cancel(w.key, w.model), w.is.Cancel())
}

// step moves time on, by nothing to some windows, or sometimes back: not where a key has expired,
// whose cell the other one may have got.
func (s *queueScript) step() {
	width := tallyring.Tick(max(s.model.kind.width, 1))
	steps := []tallyring.Tick{0, 1, 17, width / 3, width - 1, width, width + 1,
		tallyring.Tick(window) / 7, tallyring.Tick(window), 2 * tallyring.Tick(window),
		-1, -width, -tallyring.Tick(window) / 2}
	to := s.clock.Now() + steps[s.rng.IntN(len(steps))]
	if to < s.latest && !(s.model.live("a", s.latest) && s.model.live("b", s.latest)) {
		return
	}
	s.latest = max(s.latest, to)
	if to < s.latest {
		s.late++
	}
	s.clock.Set(to)
	s.model.move(to)
}

// take asks beside the queue, and may take what the queue waits for.
func (s *queueScript) take(key string, cost uint64) {
	want := s.model.allow(key, s.clock.Now(), cost)
	d := s.l.Take(key, cost)
	require.Equal(s.t, want || s.model.shadow, d.Allowed)
	if want && cost > 0 {
		s.taken = append(s.taken, event{key, d.At, cost})
	}
}

// refund takes back what was taken, once. The queue is served.
func (s *queueScript) refund() {
	if len(s.taken) == 0 {
		return
	}
	i := s.rng.IntN(len(s.taken))
	e := s.taken[i]
	s.taken = append(s.taken[:i:i], s.taken[i+1:]...)
	s.model.refund(e.key, e.at, e.cost)
	s.model.serve(e.key)
	s.l.RefundAt(e.key, e.at, e.cost)
	s.back++
}

// change sets the common limit or that of a key, or takes the latter away.
func (s *queueScript) change(key string) {
	limit := s.rng.Uint64N(16)
	switch s.rng.IntN(3) {
	case 0:
		s.model.limit = limit
		require.NoError(s.t, s.l.SetLimit(limit))
	case 1:
		s.model.limits[key] = limit
		require.NoError(s.t, s.l.SetKeyLimit(s.l.Key(key), limit))
	case 2:
		delete(s.model.limits, key)
		s.l.ClearKeyLimit(s.l.Key(key))
	}
	s.model.serveAll()
}

// compare holds every reservation against its model, and forgets those that are over.
func (s *queueScript) compare() {
	require.Equal(s.t, s.model.waiting(), s.l.Stats().Waiting)
	left := s.waiters[:0]
	for i, w := range s.waiters {
		d, err := w.is.Result()
		got := waits
		switch {
		case err == nil && d.RetryAfter > 0:
			got = shadowed
		case err == nil:
			got = admits
			require.Equal(s.t, w.model.at, d.At, "reservation %d", i)
			if w.model.cost > 0 {
				s.taken = append(s.taken, event{w.key, d.At, w.model.cost})
			}
		case strings.Contains(err.Error(), "never pass"):
			got = fails
		case strings.Contains(err.Error(), "canceled"):
			got = canceled
		}
		require.Equal(s.t, w.model.fate, got, "reservation %d of key %s at %d, cost %d: %v",
			i, w.key, s.clock.Now(), w.model.cost, err)
		if got == waits {
			left = append(left, w)
			continue
		}
		s.done[got]++
	}
	s.waiters = left
	for _, key := range []string{"a", "b"} {
		require.Equal(s.t, s.model.read(key, s.clock.Now()).High,
			s.l.PeekAt(key, s.clock.Now()).High, key)
	}
}

// TestQueuesLikeTheModel plays random scripts over every kind of window: places are taken and given
// up while time moves on and back, limits change and shadow mode comes and goes.
func TestQueuesLikeTheModel(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		done, back, late := map[fate]int{}, 0, 0
		for seed := range uint64(rounds(40)) {
			s := newQueueScript(t, k, rand.New(rand.NewPCG(seed, 71)))
			s.run(300)
			for f, n := range s.done {
				done[f] += n
			}
			back, late = back+s.back, late+s.late
		}
		for _, f := range []fate{admits, shadowed, fails, canceled} {
			require.Positive(t, done[f], "nobody %s", f)
		}
		require.Positive(t, min(back, late))
	})
}

// FuzzQueue plays what a fuzzer's bytes draw.
func FuzzQueue(f *testing.F) {
	random := rand.New(rand.NewPCG(72, 73))
	for which := range kinds {
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(uint8(which), data)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		source := &byteSource{data, rand.NewPCG(1, 1)}
		s := newQueueScript(t, kinds[int(which)%len(kinds)], rand.New(source))
		for n := 0; len(source.data) > 0 && n < 300; n++ {
			s.run(1)
		}
	})
}
