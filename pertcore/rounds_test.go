package pertcore

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// crowd runs work in many goroutines at once, on several Ps.
func crowd(goroutines int, work func(g int)) {
	var gate, done sync.WaitGroup
	gate.Add(1)
	for g := range goroutines {
		done.Add(1)
		go func() {
			defer done.Done()
			gate.Wait()
			work(g)
		}()
	}
	gate.Done()
	done.Wait()
}

// slowBuild tells whether tests run with the stand-ins for assembly, as under the race detector.
func slowBuild() bool { return !tallyring.PairLockFree() }

// withProcs sets GOMAXPROCS for the rest of the test.
func withProcs(t *testing.T, procs int) {
	before := runtime.GOMAXPROCS(procs)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestExactlyTheLimit lets a crowd ask a fresh limiter for more than its limit, round after round,
// for limits of 1 to 5000, 1 to 16 Ps, and costs of 1 to 3. At rest exactly the limit is admitted,
// or less than one cost of the smallest kind is left. It fails unless generations were folded and
// shared mode was entered.
func TestExactlyTheLimit(t *testing.T) {
	rounds := 12_000
	if slowBuild() || testing.Short() {
		rounds = 600
	}
	var folds, opened uint64
	for i, procs := range []int{1, 2, 4, 16} {
		withProcs(t, procs)
		for round := range rounds / 4 {
			shards := 1 << ((round + i) % 5)
			limit := uint64(1 + round%64)
			if round%16 == 0 {
				limit = uint64(1 + round*7%5000)
			}
			w := tallyring.Window{Slots: 1 + round%3, Width: time.Second}
			l, err := newLimiter(w, limit, shards)
			require.NoError(t, err)
			var admitted, shared atomic.Uint64
			const goroutines = 8
			crowd(goroutines, func(g int) {
				mine := uint64(0)
				for k := range int(limit)/4 + 32 {
					shard := &l.shards[(g+k/16)&int(l.mask)].word
					if cost := uint64(1 + (g+k)%3); cost > 1 && round%2 == 1 {
						if l.decide(shard, 1, cost).allowed {
							mine += cost
						}
					} else if g%2 == 0 && l.Allow(1, 1) ||
						g%2 == 1 && l.decide(shard, 1, 1).allowed {
						mine++
					}
				}
				if !l.look().exact() {
					shared.Store(1)
				}
				admitted.Add(mine)
			})
			for l.Allow(1, 1) {
				admitted.Add(1)
			}
			require.Equal(t, limit, admitted.Load(), "round %d, %d shards", round, shards)
			require.Equal(t, limit, l.Read(1).High)
			folds += l.look().generation() - 1
			opened += shared.Load()
		}
	}
	require.Greater(t, folds, uint64(rounds), "generations must end under the crowd")
	require.Positive(t, opened)
}

// TestNoTrailingWindowHoldsMore drives strict limiters across thousands of turns with a shared
// clock and counts what was admitted by bucket as counted. No window of slots buckets may hold more
// than the limit, and most hold exactly that, since the crowd asks for more.
func TestNoTrailingWindowHoldsMore(t *testing.T) {
	const width = 10_000
	calls := 400_000
	if slowBuild() || testing.Short() {
		calls = 6_000
	}
	for _, slots := range []int{1, 2, 3, 7} {
		for _, limit := range []uint64{3, 100, 400} {
			w := tallyring.Window{Slots: slots, Width: width, Strict: slots > 1}
			l, err := newLimiter(w, limit, 4)
			require.NoError(t, err)
			var now atomic.Int64
			var mutex sync.Mutex
			counts := map[int64]uint64{}
			crowd(8, func(g int) {
				local := map[int64]uint64{}
				for k := range calls / 4 {
					cost := uint64(1 + k%2)
					tick := tallyring.Tick(now.Add(10))
					if k%64 == 0 {
						tick -= width // late by a bucket
					}
					if d := l.Take(tick, cost); d.Allowed {
						local[int64(d.At)/width] += cost
					}
				}
				mutex.Lock()
				defer mutex.Unlock()
				for bucket, n := range local {
					counts[bucket] += n
				}
			})
			full, last := 0, now.Load()/width
			for bucket := range last {
				var sum uint64
				for k := range int64(slots) {
					sum += counts[bucket-k]
				}
				require.LessOrEqual(t, sum, limit, "slots %d", slots)
				if sum+1 >= limit {
					full++
				}
			}
			t.Logf("slots %d limit %d: %d of %d windows full, %d generations",
				slots, limit, full, last, l.look().generation())
			require.Greater(t, full, int(last)/4, "slots %d limit %d", slots, limit)
			if limit > 32 {
				require.Greater(t, l.look().generation(), uint64(last)/uint64(2*slots))
			}
		}
	}
}

// TestSetLimitIsABarrier lowers and raises the limit under a crowd. What stands admitted is never
// above the largest limit in force; and after a lower limit is set, nothing is admitted: each
// goroutine notes how many SetLimit had returned when it began, so that an admission that began
// under a limit already full is a fault.
func TestSetLimitIsABarrier(t *testing.T) {
	rounds := 3000
	if slowBuild() || testing.Short() {
		rounds = 200
	}
	overtaken := 0
	for round := range rounds {
		l, err := newLimiter(tallyring.Window{Slots: 1, Width: time.Second}, 1000, 4)
		require.NoError(t, err)
		var after atomic.Bool
		var late, admitted atomic.Uint64
		var held uint64
		crowd(5, func(g int) {
			if g == 4 {
				for l.Read(1).High < uint64(100+round%300) {
					runtime.Gosched()
				}
				require.NoError(t, l.SetLimit(50))
				held = l.Read(1).High // nothing may be admitted from here on
				after.Store(true)
				return
			}
			for k := range 300 {
				if k%16 == 0 {
					runtime.Gosched() // lets SetLimit in where there is one P
				}
				began := after.Load()
				shard := &l.shards[g].word
				if l.decide(shard, 1, 1).allowed {
					admitted.Add(1)
					if began {
						late.Add(1)
					}
				}
			}
		})
		require.Zero(t, late.Load())
		require.Equal(t, held, admitted.Load(), "counted after SetLimit had returned")
		require.Equal(t, held, l.Read(1).High)
		if held < 1000 {
			overtaken++
		}
		require.NoError(t, l.SetLimit(held+7))
		for range 7 {
			require.True(t, l.Allow(1, 1))
		}
		require.False(t, l.Allow(1, 1))
	}
	require.Greater(t, overtaken, rounds/20, "SetLimit came too late to change anything")
}

// TestProcsGrow changes GOMAXPROCS from 2 to 16 and back while a limiter and a counter made for
// fewer are in use. Every event is counted and exactly the limit is admitted.
func TestProcsGrow(t *testing.T) {
	withProcs(t, 2)
	const each, limit = 20_000, 100_000
	w := tallyring.Window{Slots: 2, Width: time.Second}
	c, err := NewCounter(w)
	require.NoError(t, err)
	l, err := NewLimiter(w, limit)
	require.NoError(t, err)
	var admitted atomic.Uint64
	crowd(12, func(g int) {
		mine := uint64(0)
		for k := range each {
			if g == 0 && k%2000 == 0 {
				runtime.GOMAXPROCS([]int{16, 1, 4, 2}[k/2000%4])
			}
			c.Add(5, 1)
			if l.Allow(5, 1) {
				mine++
			}
		}
		admitted.Add(mine)
	})
	require.Equal(t, uint64(12*each), c.Read(5).High)
	require.Equal(t, uint64(limit), admitted.Load())
	require.Equal(t, uint64(limit), l.Read(5).High)
}
