package limiter_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// alarms is a manual clock that knows how many alarms are set.
type alarms struct {
	tallyring.ManualClock
	set atomic.Int64
}

func (c *alarms) CallAt(due tallyring.Tick, f func()) func() bool {
	c.set.Add(1)
	stop := c.ManualClock.CallAt(due, func() {
		c.set.Add(-1)
		f()
	})
	return func() bool {
		inTime := stop()
		if inTime {
			c.set.Add(-1)
		}
		return inTime
	}
}

// storm is a crowd that waits while another goroutine moves the clock, as long as somebody waits,
// and what came of it.
type storm struct {
	clock   alarms
	keys    []limiter.Key
	reserve func(k limiter.Key, cost uint64) *limiter.Reservation
	wait    func(ctx context.Context, k limiter.Key, cost uint64) (tallyring.Decision, error)
	bother  func(random *rand.Rand, k limiter.Key) // takes and gives back, or changes limits

	mu       sync.Mutex // guards admitted
	admitted [][]tallyring.Tick

	passed, canceled, queued, disordered atomic.Int64
}

// run lets the crowd wait until all have come to an end. Each waits for some hundred events.
func (s *storm) run(t *testing.T, workers, each int) {
	s.admitted = make([][]tallyring.Tick, len(s.keys))
	var crowd sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(workers))
	for worker := range workers {
		crowd.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 91))
			for range each {
				s.one(random)
			}
			left.Add(-1)
		})
	}
	for left.Load() > 0 { // ends: everyone comes to his turn as time goes on
		if s.clock.set.Load() > 0 {
			s.clock.Advance(time.Second)
		}
		runtime.Gosched()
	}
	crowd.Wait()
	require.Zero(t, s.clock.set.Load(), "alarms are left")
	require.Zero(t, s.disordered.Load(), "who came later to one key passed first")
	require.Positive(t, min(s.passed.Load(), s.canceled.Load(), s.queued.Load()))
}

// one takes places in the queue of one key, gives some of them up, and waits for the others.
func (s *storm) one(random *rand.Rand) {
	which := random.IntN(len(s.keys))
	switch random.IntN(4) {
	case 0:
		s.bother(random, s.keys[which])
		return
	case 1:
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if random.IntN(2) == 0 {
			go cancel()
		}
		if d, err := s.wait(ctx, s.keys[which], 1); err == nil {
			s.note(which, d)
		} else {
			s.canceled.Add(1)
		}
		return
	}
	var row []*limiter.Reservation
	for range 1 + random.IntN(4) {
		row = append(row, s.reserve(s.keys[which], 1))
	}
	for _, r := range row[1:] {
		if random.IntN(2) == 0 && r.Cancel() {
			s.canceled.Add(1)
		}
	}
	if !isOver(row[len(row)-1]) {
		s.queued.Add(1)
	}
	for i, r := range slices.Backward(row) {
		<-r.Done()
		if d, err := r.Result(); err == nil {
			s.note(which, d)
			for _, before := range row[:i] {
				if !isOver(before) {
					s.disordered.Add(1)
				}
			}
		}
	}
}

func isOver(r *limiter.Reservation) bool {
	select {
	case <-r.Done():
		return true
	default:
		return false
	}
}

func (s *storm) note(which int, d tallyring.Decision) {
	s.passed.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted[which] = append(s.admitted[which], d.At)
}

// requireWithin checks the trailing windows of every key.
func (s *storm) requireWithin(t *testing.T, rate limiter.Rate) {
	for _, ticks := range s.admitted {
		slices.Sort(ticks)
		requireWithin(t, ticks, rate)
	}
}

// Goal: whatever cancels, changes limits, takes and gives back while a crowd waits and time goes
// on, everyone comes to an end, in order; no trailing window holds more than the limit; and no
// alarm and no place is left. Method: as the goal says, on an exact log.
func TestACrowdOfThoseWhoWait(t *testing.T) {
	s := &storm{}
	s.clock.Set(start)
	rate := limiter.Rate{Limit: 5, Window: 10 * time.Second}
	l, err := limiter.New(rate.Limit, rate.Window, limiter.WithLog(), limiter.WithClock(&s.clock))
	require.NoError(t, err)
	s.keys = []limiter.Key{l.Key("a"), l.Key("b"), l.Key("c")}
	s.reserve, s.wait = l.ReserveKey, l.WaitKey
	s.bother = func(random *rand.Rand, k limiter.Key) {
		switch random.IntN(4) {
		case 0:
			_ = l.SetLimit(2)
			_ = l.SetLimit(rate.Limit)
		case 1:
			_ = l.SetKeyLimit(k, 3)
			l.ClearKeyLimit(k)
		case 2:
			if d := l.TakeKey(k, s.clock.Now(), 2); d.Allowed {
				l.RefundKey(k, d.At, 2)
			}
		case 3:
			limiter.AllowAll([]limiter.Demand{{l, k}, {l, 7}, {l, 7}}, s.clock.Now(), 3)
		}
	}
	s.run(t, 12, rounds(50))
	s.requireWithin(t, rate)
	require.Zero(t, l.Stats().Waiting)
}

// Goal: the same for those who wait for several rates, while others wait for one of them, ask for
// both, and change one.
func TestACrowdOfThoseWhoWaitForSeveral(t *testing.T) {
	s := &storm{}
	s.clock.Set(start)
	rates := []limiter.Rate{{4, 8 * time.Second}, {20, time.Minute}}
	all, err := limiter.NewSeveral(rates, limiter.WithStrictWindow(), limiter.WithClock(&s.clock))
	require.NoError(t, err)
	one := all.Limiters()[0]
	s.keys = []limiter.Key{all.Key("a"), all.Key("b"), all.Key("c")}
	s.reserve, s.wait = all.ReserveKey, all.WaitKey
	s.bother = func(random *rand.Rand, k limiter.Key) {
		switch random.IntN(5) {
		case 0:
			_ = all.SetLimit(0, 2)
			_ = all.SetLimit(0, rates[0].Limit)
		case 1:
			_ = one.SetKeyLimit(k, 1)
			one.ClearKeyLimit(k)
		case 2:
			if j := all.TakeKey(k, s.clock.Now(), 2); j.Allowed {
				all.RefundKey(k, j, 2)
			}
		case 3:
			if d, err := one.WaitKey(context.Background(), k, 1); err == nil {
				one.RefundKey(k, d.At, 1)
			}
		case 4:
			limiter.AllowAll([]limiter.Demand{{one, k}, {one, 7}, {one, 7}}, s.clock.Now(), 2)
		}
	}
	s.run(t, 12, rounds(50))
	for _, rate := range rates {
		s.requireWithin(t, rate)
	}
	require.Zero(t, one.Stats().Waiting)
}
