package atomicring

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// crew runs work in rounds on some goroutines that all start a round together. The last to finish
// a round calls between, while the others wait, to check it and to prepare the next.
func crew(workers, rounds int, work func(worker, round int), between func(round int)) {
	gates := make([]chan struct{}, rounds)
	for round := range gates {
		gates[round] = make(chan struct{})
	}
	var arrived atomic.Int64
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for round, gate := range gates {
				work(worker, round)
				if arrived.Add(1) == int64(workers*(round+1)) {
					between(round)
					close(gate)
				}
				<-gate
			}
		})
	}
	all.Wait()
}

// onProcs runs a test with some numbers of processors for goroutines, more than the machine has
// among them.
func onProcs(t *testing.T, test func(t *testing.T)) {
	for _, procs := range []int{1, 2, 4, 16} {
		t.Run(fmt.Sprintf("procs=%d", procs), func(t *testing.T) {
			before := runtime.GOMAXPROCS(procs)
			defer runtime.GOMAXPROCS(before)
			test(t)
		})
	}
}

// attempts repeats what Ring.Allow does, one attempt at a time. With hold it lets other
// goroutines run between its first look at the ring and what it does about it, so that they meet
// even on one processor. It returns how many attempts failed because another goroutine's event
// came first; attempts that had work to do for a rotation do not count.
func attempts(
	r *Ring, now tallyring.Tick, cost, limit uint64, hold bool,
) (allowed bool, overtaken int) {
	for {
		head := r.words[0].Load()
		if hold {
			runtime.Gosched()
			hold = false
		}
		if r.word != nil {
			next, ok := r.packed.Next(head, now, cost, limit)
			if next == head || r.word.CompareAndSwap(head, next) {
				return ok, overtaken
			}
			overtaken++
			continue
		}
		if verdict := r.tagged.Try(r.words, head, now, cost, limit); verdict != Again {
			return verdict == Admitted, overtaken
		}
		overtaken += reached(here(&r.tagged, head, now))
	}
}

// here tells whether an event at now can be counted in the head without a rotation.
func here(g *Tagged, head uint64, now tallyring.Tick) bool {
	index, _ := g.at(now)
	return head&g.sealed == 0 && g.distance(index, head>>g.indexShift) <= 0
}

// addAttempts is Ring.Add as attempts is Ring.Allow.
func addAttempts(
	r *Ring, now tallyring.Tick, count uint64, hold bool,
) (counted bool, overtaken int) {
	for {
		head := r.words[0].Load()
		if hold {
			runtime.Gosched()
			hold = false
		}
		if r.word != nil {
			next, ok := r.packed.Add(head, now, count)
			if next == head || r.word.CompareAndSwap(head, next) {
				return ok, overtaken
			}
			overtaken++
			continue
		}
		if verdict := r.tagged.TryAdd(r.words, head, now, count); verdict != Again {
			return verdict == Admitted, overtaken
		}
		overtaken += reached(here(&r.tagged, head, now))
	}
}

var contended = []struct {
	form  form
	slots int
}{
	{forms[0], 1}, {forms[0], 2}, {forms[1], 2}, {forms[1], 3}, {forms[1], 7}, {forms[1], 61},
}

func eachContended(t *testing.T, test func(t *testing.T, f form, slots int)) {
	for _, c := range contended {
		t.Run(fmt.Sprintf("%s/slots=%d", c.form.name, c.slots), func(t *testing.T) {
			onProcs(t, func(t *testing.T) { test(t, c.form, c.slots) })
		})
	}
}

// TestExactlyTheLimitPassesAtOnce lets 50 goroutines at once ask a fresh ring for one event each
// under a limit of 25, ten thousand rounds for the form of each shape: exactly 25 pass. Half of
// them use the ring's methods, the others count how often they were overtaken.
func TestExactlyTheLimitPassesAtOnce(t *testing.T) {
	const workers, limit = 50, 25
	eachContended(t, func(t *testing.T, f form, slots int) {
		var passed, overtaken atomic.Int64
		w := tallyring.Window{Slots: slots, Width: time.Second}
		r := f.build(w)
		often := 2500
		work := func(worker, round int) {
			now := tallyring.Tick(round) + 1767225600e9
			var allowed bool
			switch worker % 4 {
			case 0, 1:
				var n int
				allowed, n = attempts(r, now, 1, limit, round%4 == worker%5)
				overtaken.Add(int64(n))
			case 2:
				allowed = r.Allow(now, 1, limit)
			case 3:
				allowed = r.Take(now, 1, limit).Allowed
			}
			if allowed {
				passed.Add(1)
			}
		}
		crew(workers, rounds(often), work, func(round int) {
			if n := passed.Swap(0); n != limit {
				t.Errorf("round %d: %d events passed, want %d", round, n, limit)
			}
			r = f.build(w)
		})
		require.Positive(t, overtaken.Load(), "no goroutine ever met another")
	})
}

// TestExactlyTheLimitPassesAcrossTurns lets 50 goroutines at once ask one ring, round after
// round, at ticks that cross a bucket's end in most rounds, so that all of them meet the turn. As
// many pass as in the plain model, and the ring then holds what the model holds.
func TestExactlyTheLimitPassesAcrossTurns(t *testing.T) {
	const workers, limit = 50, 60
	eachContended(t, func(t *testing.T, f form, slots int) {
		w := tallyring.Window{Slots: slots, Width: 1_000_000, Strict: slots == 7}
		r := f.build(w)
		m := newModel(w, r.MaxLimit())
		rng := rand.New(rand.NewPCG(1, uint64(slots)))
		var passed, overtaken atomic.Int64
		now, turns := tallyring.Tick(1), 0
		work := func(worker, round int) {
			allowed, n := false, 0
			if worker%2 == 0 {
				allowed = r.Allow(now, 1, limit)
			} else if allowed, n = attempts(r, now, 1, limit, round%4 == worker%5); n > 0 {
				overtaken.Add(int64(n))
			}
			if allowed {
				passed.Add(1)
			}
		}
		crew(workers, rounds(1500), work, func(round int) {
			var want int64
			for range workers {
				if m.allow(now, 1, limit) {
					want++
				}
			}
			low, high, _ := m.read(now)
			got := r.Read(now)
			if n := passed.Swap(0); n != want || got.Low != low || got.High != high {
				t.Errorf("round %d at %d: %d passed, %v left, want %d, %d and %d",
					round, now, n, got, want, low, high)
			}
			step := tallyring.Tick(rng.Int64N(2 * int64(w.Width)))
			turns += int((now+step)/1_000_000 - now/1_000_000)
			now += step
		})
		require.Greater(t, turns, rounds(1000))
		require.Positive(t, overtaken.Load(), "no goroutine ever met another")
	})
}

// TestStrictWindowHoldsWhileTheClockMoves lets goroutines ask strict rings at ticks from one
// clock that moves with every question, so that calls are late by chance, and keeps what was
// admitted, as of the tick at which it was counted. No trailing window holds more than the limit,
// and the ring holds at the end what the log says.
func TestStrictWindowHoldsWhileTheClockMoves(t *testing.T) {
	const workers, limit = 8, 40
	eachContended(t, func(t *testing.T, f form, slots int) {
		w := tallyring.Window{Slots: max(slots, 2), Width: 1 << 16, Strict: true}
		r := f.build(w)
		var clock atomic.Int64
		logs := make([][]admission, workers)
		var late atomic.Int64
		work := func(worker, round int) {
			rng := rand.New(rand.NewPCG(uint64(worker), uint64(round)))
			for range 500 {
				now := tallyring.Tick(clock.Add(rng.Int64N(1 << 13)))
				if rng.IntN(4) == 0 {
					runtime.Gosched() // hold the tick, to be late with it
				}
				cost := rng.Uint64N(3) + 1
				d := r.Take(now, cost, limit)
				if d.Allowed {
					logs[worker] = append(logs[worker], admission{d.At, cost})
				}
				if d.At > now {
					late.Add(1)
				}
			}
		}
		crew(workers, rounds(10), work, func(int) {})
		log := slices.Concat(logs...)
		slices.SortFunc(log, func(a, b admission) int { return int(a.at - b.at) })
		require.LessOrEqual(t, worstTrailing(log, w.Length()), uint64(limit))
		require.Greater(t, clock.Load()/int64(w.Width), int64(rounds(900)), "turns")
		newest := log[len(log)-1].at
		first := newest/tallyring.Tick(w.Width) - tallyring.Tick(w.Slots) + 1
		var want uint64
		for _, a := range log {
			if a.at/tallyring.Tick(w.Width) >= first {
				want += a.cost
			}
		}
		require.Equal(t, want, r.Read(newest).High)
		require.Positive(t, late.Load(), "no call was late")
	})
}

// ledger keeps, beside the ring, what each bucket must hold.
type ledger []atomic.Int64

// from returns what the ring must hold from bucket first on.
func (l ledger) from(first int) (sum uint64) {
	for i := max(first, 0); i < len(l); i++ {
		sum += uint64(l[i].Load())
	}
	return sum
}

// TestRotationLosesNothing lets goroutines count at ticks of one clock that turns a bucket every
// few calls, late by some buckets at times, and take back some of what they counted. When all
// have finished, every bucket that is still in the ring holds exactly what went into it: no
// rotation has lost or invented a count.
func TestRotationLosesNothing(t *testing.T) {
	const workers, calls, width = 8, 100, 4096
	eachContended(t, func(t *testing.T, f form, slots int) {
		var clock atomic.Int64
		var turns, late, overtaken atomic.Int64
		empty := func() (*Ring, ledger) {
			clock.Store(0)
			w := tallyring.Window{Slots: slots, Width: width}
			return f.build(w), make(ledger, workers*calls/4+1)
		}
		r, kept := empty()
		work := func(worker, round int) {
			rng := rand.New(rand.NewPCG(uint64(worker), uint64(round)))
			for range calls {
				now := clock.Add(rng.Int64N(width / 4))
				if rng.IntN(3) == 0 {
					now = max(now-rng.Int64N(int64(slots)*width), 0)
					late.Add(1)
				}
				overtaken.Add(int64(count(r, kept, rng, tallyring.Tick(now), width)))
			}
		}
		crew(workers, rounds(150), work, func(round int) {
			newest := int(clock.Load() / width)
			turns.Add(int64(newest))
			for i := range slots + 1 {
				got := r.Read(tallyring.Tick((newest + i) * width)).High
				if want := kept.from(newest + i - slots + 1); got != want {
					t.Errorf("round %d: %d events from %d buckets back on, want %d, ring %x",
						round, got, slots-1-i, want, raw(r))
				}
			}
			r, kept = empty()
		})
		require.Greater(t, turns.Load(), int64(rounds(150)*80), "turns")
		require.Positive(t, late.Load())
		require.Positive(t, overtaken.Load(), "no goroutine ever met another")
	})
}

// count counts one event by one of the verbs, enters it in the ledger, and sometimes takes it
// back. It returns how often it saw itself overtaken.
func count(r *Ring, kept ledger, rng *rand.Rand, now, width tallyring.Tick) (overtaken int) {
	at, counted := now, true
	switch rng.IntN(3) {
	case 0:
		at = r.Take(now, 1, tallyring.Unlimited).At
	case 1:
		counted = r.Add(now, 1)
	case 2:
		counted, overtaken = addAttempts(r, now, 1, rng.IntN(8) == 0)
	}
	if counted {
		kept[at/width].Add(1)
	}
	if counted && rng.IntN(3) == 0 {
		r.Refund(at, 1)
		kept[at/width].Add(-1)
	}
	return overtaken
}

// TestReadersSeeEveryFinishedAdd lets readers run beside goroutines that count while the bucket
// turns, in rings that are never so full of time that a bucket leaves. A reading holds at least
// what had been counted before it began, at most what had begun to be counted when it ended, and
// never less than an earlier reading of the same goroutine.
func TestReadersSeeEveryFinishedAdd(t *testing.T) {
	const workers, calls, width = 8, 100, 1 << 20
	for _, c := range []struct {
		form        form
		slots, turn int
	}{{forms[0], 1, 0}, {forms[0], 2, 1}, {forms[1], 3, 2}, {forms[1], 64, 63}} {
		t.Run(fmt.Sprintf("%s/slots=%d", c.form.name, c.slots), func(t *testing.T) {
			onProcs(t, func(t *testing.T) {
				var clock, begun, finished, beside atomic.Int64
				w := tallyring.Window{Slots: c.slots, Width: width}
				r := c.form.build(w)
				last := int64(width*(c.turn+1) - 1)
				work := func(worker, round int) {
					rng := rand.New(rand.NewPCG(uint64(worker), uint64(round)))
					var seen uint64
					for range calls {
						step := rng.Int64N(2*last/(workers*calls) + 2)
						now := tallyring.Tick(min(clock.Add(step), last))
						if worker%2 == 0 {
							begun.Add(1)
							addAttempts(r, now, 1, rng.IntN(8) == 0)
							finished.Add(1)
							continue
						}
						least := uint64(finished.Load())
						got := r.Read(now)
						most := uint64(begun.Load())
						if got.High < max(least, seen) || got.High > most || got.Low > got.High {
							t.Errorf("reading %v, want %d to %d, and %d was seen before",
								got, least, most, seen)
						}
						if seen = got.High; least < most {
							beside.Add(1)
						}
					}
				}
				crew(workers, rounds(200), work, func(int) {
					for _, counter := range []*atomic.Int64{&clock, &begun, &finished} {
						counter.Store(0)
					}
					r = c.form.build(w)
				})
				require.Positive(t, beside.Load(), "no reading ran beside an add")
			})
		})
	}
}

// TestDenialsLeaveTheWordsAlone lets goroutines at once ask full rings for what they deny, by
// every verb and at later and earlier ticks. Not a bit of the ring changes, so that no bucket
// turns either.
func TestDenialsLeaveTheWordsAlone(t *testing.T) {
	eachContended(t, func(t *testing.T, f form, slots int) {
		w := tallyring.Window{Slots: slots, Width: time.Second, Strict: slots > 1}
		r := f.build(w)
		const limit = 10
		now := tallyring.Tick(1767225600e9)
		for r.Allow(now, 1, limit) {
			now += tallyring.Tick(w.Length()) / limit / 2
		}
		now = max(now, tallyring.Tick(w.Width))
		before := raw(r)
		work := func(worker, round int) {
			at := now - tallyring.Tick(round%2*int(w.Width))
			d := r.Take(at, uint64(worker), limit)
			if d.Allowed && worker > 0 || r.Allow(at, limit+1, limit) || r.Allow(at, 1, 0) ||
				r.Allow(at, 0, 0) || r.Allow(at, limit-5, limit-4) {
				t.Error("an event was admitted")
			}
		}
		crew(8, rounds(500), work, func(int) {})
		require.Equal(t, before, raw(r))
	})
}
