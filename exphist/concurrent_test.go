package exphist

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

const crowd = 50

// meeting counts how often a goroutine finds the lock taken as it comes.
type meeting struct {
	met atomic.Int64
}

func (m *meeting) at(mu *sync.Mutex) {
	if mu.TryLock() {
		mu.Unlock()
	} else {
		m.met.Add(1)
	}
}

// inRounds runs crowd goroutines that all do one thing per round, started together, and checks
// after each round. It goes on until enough rounds were run and goroutines have met, or gives up
// after twenty times as many.
func inRounds(t *testing.T, m *meeting, do func(worker, round int), check func(round int)) {
	enough := rounds(2000)
	for round := 0; round < enough || m.met.Load() == 0; round++ {
		if round > 20*enough {
			t.Fatal("no two goroutines met")
		}
		var gate, done sync.WaitGroup
		gate.Add(1)
		for worker := range crowd {
			done.Go(func() {
				gate.Wait()
				do(worker, round)
			})
		}
		gate.Done()
		done.Wait()
		check(round)
	}
}

// Goal: exactly L = 25 of 50 at once pass, in every window: no event is lost between goroutines and
// none is invented.
// Method: each round is two windows later than the round before, so that what is counted is exact;
// a third use Take, some come from other ticks.
func TestExactlyLimitPass(t *testing.T) {
	const limit = 25
	h := mustNew(t, 1000, 0.01, 1000)
	var m meeting
	var passed atomic.Int64
	inRounds(t, &m, func(worker, round int) {
		now := tallyring.Tick(2000 * (round + 1))
		if worker%5 == 0 {
			now += tallyring.Tick(worker)
		}
		m.at(&h.mu)
		allowed := false
		if worker%3 == 0 {
			allowed = h.Take(now, 1, limit).Allowed
		} else {
			allowed = h.Allow(now, 1, limit)
		}
		if allowed {
			passed.Add(1)
		}
	}, func(round int) {
		require.Equal(t, int64(limit), passed.Swap(0), "round %d", round)
	})
}

// Goal: of events from many goroutines, each is one of the last N exactly once.
// Method: N events a round, some that weigh nothing, some that ask to pass, in a histogram that is
// exact for so few; after each round the last N are that round's.
func TestEventsFromManyGoroutines(t *testing.T) {
	e := mustEvents(t, crowd, 0.001, 10*crowd)
	var m meeting
	weights := [4]uint64{0, 3, 2, 2}
	want := uint64(0)
	for worker := range crowd {
		want += weights[worker%4]
	}
	inRounds(t, &m, func(worker, _ int) {
		m.at(&e.mu)
		switch weight := weights[worker%4]; weight {
		case 0:
			e.Skip(1)
		case 3:
			e.Add(weight)
		default:
			if !e.Allow(weight, tallyring.Unlimited) {
				t.Error("denied")
			}
		}
	}, func(round int) {
		r := tallyring.Reading{Low: want, Estimate: float64(want), High: want}
		require.Equal(t, r, e.Read(), "round %d", round)
	})
}

// Goal: whatever goroutines do at once, no trailing window holds more admitted events than the
// limit, and readings stay in order.
// Method: goroutines with clocks apart decide and read; the admitted events, by the tick at which
// they were counted, are summed over each window that ends at one of them.
func TestNoTrailingWindowHoldsMoreFromManyGoroutines(t *testing.T) {
	const length, limit = 5000, 300
	h := mustNew(t, length, 0.1, limit)
	var m meeting
	var clock, denied atomic.Int64
	admitted := make([][]tallyring.Tick, crowd)
	inRounds(t, &m, func(worker, round int) {
		random := rand.New(rand.NewPCG(uint64(worker), uint64(round)))
		for range 10 {
			now := tallyring.Tick(clock.Add(random.Int64N(20)) - random.Int64N(100))
			m.at(&h.mu)
			if d := h.Take(now, 1, limit); d.Allowed {
				admitted[worker] = append(admitted[worker], d.At)
			} else {
				denied.Add(1)
			}
			if r := h.Read(now); r.Low > r.High || r.High > limit {
				t.Errorf("reading %+v", r)
			}
		}
	}, func(int) {})
	counts := make([]int, clock.Load()+1)
	for _, ticks := range admitted {
		for _, tick := range ticks {
			counts[tick]++
		}
	}
	inWindow, largest := 0, 0
	for tick, count := range counts {
		if inWindow += count; tick >= length {
			inWindow -= counts[tick-length]
		}
		largest = max(largest, inWindow)
	}
	require.LessOrEqual(t, largest, limit)
	require.Greater(t, largest, limit*8/10, "the limit was never near")
	require.Greater(t, denied.Load(), int64(rounds(1000)), "the limit was never met")
}

// Goal: a histogram that is only added to counts every event.
// Method: a sum that is known, at one tick, from many goroutines.
func TestSumsSurviveContention(t *testing.T) {
	h := mustNew(t, time.Hour, 0.1, 1<<50)
	var m meeting
	inRounds(t, &m, func(worker, _ int) {
		m.at(&h.mu)
		h.Add(5, uint64(worker)<<16)
	}, func(round int) {
		want := uint64(round+1) * crowd * (crowd - 1) / 2 << 16
		require.Equal(t, want, h.Read(5).High)
	})
}
