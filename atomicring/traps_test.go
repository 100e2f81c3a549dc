package atomicring

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Faults that limiters of this kind have had in public, each with the right value and with the
// neighbours in kind that the same mistake would break. Every one is tried on rings of all forms.

const second = tallyring.Tick(time.Second)

// eachRing runs a test on a window of so many slots in each form that holds it, and strict too.
func eachRing(
	t *testing.T, slots int, width time.Duration, test func(t *testing.T, fresh func() *Ring),
) {
	for _, f := range forms {
		for _, strict := range []bool{false, true} {
			w := tallyring.Window{Slots: slots, Width: width, Strict: strict}
			if strict && slots < 2 || !f.tagged && slots > 2 {
				continue
			}
			t.Run(fmt.Sprintf("%s/slots=%d/strict=%t", f.name, slots, strict), func(t *testing.T) {
				test(t, func() *Ring { return f.build(w) })
			})
		}
	}
}

// passing returns how many of n events of cost 1 pass.
func passing(r *Ring, n int, now tallyring.Tick, limit uint64) (passed int) {
	for range n {
		if r.Allow(now, 1, limit) {
			passed++
		}
	}
	return passed
}

// A late tick never finds a budget that the newest tick does not have: 10 a second, full at 10 s,
// then 1000 times a call at 9 s and one at 10 s. Nor do ticks late by less than a bucket, by many
// windows, or before all time.
func TestTrapLateTick(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 11} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			for _, late := range []tallyring.Tick{
				9 * second, 10*second - 1, 10 * second, 5 * second, 1, 0, -1, math.MinInt64,
			} {
				r, passed := fresh(), 0
				for range 1000 {
					passed += passing(r, 1, 10*second, 10)
					passed += passing(r, 1, late, 10)
				}
				require.Equal(t, 10, passed, "late tick %d", late)
				require.Equal(t, uint64(10), r.Read(late).High)
			}
		})
	}
}

// A refund does not set the clock back: the ring counts nothing any more, but a late event is
// still counted in the newest bucket.
func TestTrapLateTickAfterRefund(t *testing.T) {
	eachRing(t, 2, time.Second, func(t *testing.T, fresh func() *Ring) {
		r := fresh()
		require.True(t, r.Allow(10*second+5, 3, 10))
		r.Refund(10*second+5, 3)
		require.Equal(t, 10*second, r.Take(7*second, 1, 10).At)
		require.False(t, r.Add(7*second, 1), "the bucket has left the ring")
	})
}

// Goroutines that meet a stale bucket together do not each start it anew: two that add 1 make 2.
func TestTrapRotationRace(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 8} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			now, sum := 100*second, uint64(0)
			var held atomic.Int64
			work := func(worker, round int) {
				// Both look before either acts, in half of the rounds.
				_, overtaken := addAttempts(r, now, 1, (worker+round)%2 == 0)
				held.Add(int64(overtaken))
			}
			crew(2, rounds(200), work, func(int) {
				if sum = r.Read(now).High; sum < 2 {
					t.Errorf("%d events in the bucket of %d, want 2 or more", sum, now)
				}
				if now += second; slots > 1 {
					sum = min(sum, 2)
				}
			})
			require.Equal(t, uint64(2*min(slots, rounds(200))), r.Read(now-second).High)
		})
	}
}

// After an idle gap only what is still in the window counts: W = 10 s, events at 0.5 to 9.5 s and
// one at 20.5 s make 1. The same for every gap around the window's length, and for very long
// ones.
func TestTrapIdleGap(t *testing.T) {
	for _, slots := range []int{1, 2, 10, 11} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			fill := func() *Ring {
				r := fresh()
				for i := range tallyring.Tick(10) {
					require.True(t, r.Add(i*second+second/2, 1))
				}
				return r
			}
			r := fill()
			require.True(t, r.Add(20*second+second/2, 1))
			require.Equal(t, uint64(1), r.Read(20*second+second/2).High)

			length := tallyring.Tick(max(slots-1, 1)) * second
			for _, gap := range []tallyring.Tick{
				length - 1, length, length + 1, 2 * length, 36_000 * second,
				tallyring.Tick(tallyring.MaxLength),
			} {
				r, now := fill(), 9*second+second/2+gap
				want := uint64(0)
				for i := range int64(10) {
					if i > int64(now/second)-int64(slots) {
						want++
					}
				}
				require.Equal(t, want, r.Read(now).High, "gap %d", gap)
				require.True(t, r.Add(now, 1))
				require.Equal(t, want+1, r.Read(now).High, "gap %d", gap)
				require.True(t, r.Add(now+second, 1))
				require.LessOrEqual(t, r.Read(now+second).High, want+2, "gap %d", gap)
			}
		})
	}
}

// Nothing comes back when some clock wraps: 7 events are gone 2^31 and 2^32 ms later, and at the
// same powers of other units, and one bucket before and after.
func TestTrapTickWrap(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 7} {
		for _, width := range []time.Duration{1 << 16, time.Millisecond, time.Second, time.Hour} {
			eachRing(t, slots, width, func(t *testing.T, fresh func() *Ring) {
				for shift := 31; shift <= 63; shift++ {
					for _, unit := range []int64{1, 1e3, 1e6, 1e9} {
						if shift == 63 || int64(tallyring.MaxLength)>>shift/unit == 0 {
							break
						}
						gone := tallyring.Tick(unit << shift)
						for _, off := range []tallyring.Tick{-1, 0, 1} {
							r := fresh()
							require.True(t, r.Add(0, 7))
							later := gone + off*tallyring.Tick(width)
							if later < tallyring.Tick(slots)*tallyring.Tick(width) {
								continue
							}
							require.Zero(t, r.Read(later).High, "2^%d of %d ns", shift, unit)
							require.True(t, r.Allow(later, 7, 7), "2^%d of %d ns", shift, unit)
						}
					}
				}
			})
		}
	}
}

// Products and sums do not overflow: 980,000,000 in 10 s, used up, are all there again when the
// window has passed; the same for the largest limits and for costs beyond them.
func TestTrapOverflow(t *testing.T) {
	w := tallyring.Window{Slots: 2, Width: 10 * time.Second}
	r, err := NewFor(w, 980_000_000)
	require.NoError(t, err)
	require.True(t, r.Allow(0, 980_000_000, 980_000_000))
	require.False(t, r.Allow(0, 1, 980_000_000))
	require.Equal(t, uint64(980_000_000), r.Take(20*second, 0, 980_000_000).Remaining)
	require.Equal(t, uint64(490_000_000), r.Take(15*second, 0, 980_000_000).Remaining)

	for _, width := range []time.Duration{1 << 16, time.Second, time.Hour, 24 * 365 * time.Hour} {
		for _, slots := range []int{1, 2, 3, 9} {
			eachRing(t, slots, width, func(t *testing.T, fresh func() *Ring) {
				r := fresh()
				most := r.MaxLimit()
				for _, cost := range []uint64{most + 1, most + 2, 1 << 63, math.MaxUint64} {
					d := r.Take(0, cost, tallyring.Unlimited-1)
					require.Equal(t, tallyring.Decision{Limit: most, Remaining: most,
						RetryAfter: tallyring.Never}, d, "cost %d", cost)
				}
				require.True(t, r.Allow(0, most, most))
				require.False(t, r.Allow(0, 1, most))
				end := tallyring.Tick(slots) * tallyring.Tick(width)
				require.Equal(t, most, r.Take(end, 0, most).Remaining)
				require.True(t, r.Allow(end, most, most))
			})
		}
	}
}

// A count that is full stays full: it denies under every finite limit until it leaves the ring,
// no refund lowers it, and its neighbours know nothing of it.
func TestTrapOverflowIsSticky(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 9} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			most := r.MaxLimit()
			require.True(t, r.Allow(second, math.MaxUint64, tallyring.Unlimited))
			require.True(t, r.Add(second, 1))
			r.Refund(second, math.MaxUint64)
			require.Equal(t, most+1, r.Read(second).High)
			leaves := tallyring.Tick(1+slots) * second
			for _, now := range []tallyring.Tick{second, leaves - 1} {
				require.False(t, r.Allow(now, 0, most))
				require.False(t, r.Allow(now, 1, tallyring.Unlimited-1))
				d := r.Take(now, 1, most)
				require.Equal(t, time.Duration(leaves-now), d.RetryAfter)
				require.Zero(t, d.Remaining)
			}
			require.True(t, r.Allow(leaves-1, 1, tallyring.Unlimited))
			require.True(t, r.Allow(leaves, 1, most))
		})
	}
}

// A denied event is not charged: L = 10, cost 8, cost 5 denied, cost 1 admitted, 1 left.
func TestTrapDeniedEventCharged(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			require.True(t, r.Take(second, 8, 10).Allowed)
			for range 100 {
				require.False(t, r.Take(second, 5, 10).Allowed)
				require.False(t, r.Allow(second, 11, 10))
			}
			d := r.Take(second, 1, 10)
			require.True(t, d.Allowed)
			require.Equal(t, uint64(1), d.Remaining)
			require.True(t, r.Allow(second, 1, 10))
			require.False(t, r.Allow(second, 1, 10))
		})
	}
}

// Idle time does not pile up: one per window, one taken, idle for two windows and for a year,
// then 24 at once. One passes.
func TestTrapNoLimitAfterIdle(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			for _, idle := range []tallyring.Tick{2, 8, 14, 365 * 86_400} {
				r := fresh()
				require.True(t, r.Allow(0, 1, 1))
				now := idle * second
				if idle < tallyring.Tick(slots) {
					require.Zero(t, passing(r, 24, now, 1), "idle %d s", idle)
					continue
				}
				require.Equal(t, 1, passing(r, 24, now, 1), "idle %d s", idle)
			}
		})
	}
}

// A new limit acts at once, up and down, and what is spent stays spent.
func TestTrapLimitChanged(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			require.Equal(t, 2, passing(r, 2, second, 15))
			require.Equal(t, uint64(1498), r.Take(second, 0, 1500).Remaining)
			require.True(t, r.Allow(second, 1000, 1500))
			d := r.Take(second, 1, 15)
			require.False(t, d.Allowed)
			require.Zero(t, d.Remaining)
			require.False(t, r.Allow(second, 0, 15))
			require.True(t, r.Allow(second, 1, tallyring.Unlimited))
			require.Equal(t, uint64(1500-1003), r.Take(second, 0, 1500).Remaining)
		})
	}
}

// The same limit set again refills nothing, nor does any other in between.
func TestTrapIdenticalReload(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			require.Equal(t, 10, passing(r, 10, second, 10))
			for _, limit := range []uint64{10, 0, 10, 5, 10} {
				require.False(t, r.Allow(second, 1, limit))
			}
			require.Equal(t, uint64(10), r.Read(second).High)
		})
	}
}

// The number of processors may grow while events are counted: 2 to 16 and back, the sum is exact.
func TestTrapProcessorsGrow(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, slots := range []int{1, 2, 8} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			procs := []int{2, 16, 4, 1}
			var counted atomic.Uint64
			work := func(worker, round int) {
				if worker == 0 {
					runtime.GOMAXPROCS(procs[round%len(procs)])
				}
				for range 20 {
					r.Add(second, 1)
					counted.Add(1)
				}
			}
			crew(16, 8, work, func(int) {})
			require.Equal(t, counted.Load(), r.Read(second).High)
		})
	}
}

// Check and add are one step: L = 25, 50 at once that have all looked before any of them acts. 25
// pass.
func TestTrapCheckThenAdd(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			var passed, overtaken atomic.Int64
			work := func(int, int) {
				ok, n := attempts(r, second, 1, 25, true)
				passed.Add(int64(reached(ok)))
				overtaken.Add(int64(n))
			}
			crew(50, rounds(20), work, func(int) {
				if n := passed.Swap(0); n != 25 {
					t.Errorf("%d passed, want 25", n)
				}
				r = fresh()
			})
			require.Positive(t, overtaken.Load())
		})
	}
}

// However often an attempt is overtaken, it ends in a decision: 64 goroutines on one ring with
// room for all of them all pass, thousands of times, at one tick and across turns.
func TestTrapCASRetriesBounded(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			var denied, overtaken atomic.Int64
			work := func(worker, round int) {
				now := second * tallyring.Tick(1+round/4)
				ok, n := attempts(r, now, 1, r.MaxLimit(), worker%2 == 0)
				denied.Add(int64(reached(!ok || !r.Allow(now, 1, r.MaxLimit()))))
				overtaken.Add(int64(n))
			}
			crew(64, rounds(20), work, func(int) {})
			require.Zero(t, denied.Load())
			require.Positive(t, overtaken.Load())
		})
	}
}

// What costs more than the limit can never pass and says so: capacity 3, cost 4, whatever is
// used.
func TestTrapCostAboveLimit(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			for used := range uint64(4) {
				for _, cost := range []uint64{4, 5, 1 << 62, 1 << 63, math.MaxUint64} {
					d := r.Take(second, cost, 3)
					require.Equal(t, tallyring.Never, d.RetryAfter, "cost %d", cost)
					require.False(t, d.Allowed)
					require.Equal(t, 3-used, d.Remaining)
					require.False(t, r.Allow(second, cost, 3))
				}
				require.Equal(t, used < 3, r.Allow(second, 1, 3))
			}
			require.NotEqual(t, tallyring.Never, r.Take(second, 3, 3).RetryAfter)
		})
	}
}

// Cost 0 is a look: allowed while the estimate is within a limit above 0, and it changes nothing,
// not even a ring that was never used, nor a bucket that has ended.
func TestTrapCostZero(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			look := func(now tallyring.Tick, limit uint64) bool {
				before := raw(r)
				allowed := r.Allow(now, 0, limit)
				require.Equal(t, allowed, r.Take(now, 0, limit).Allowed)
				r.Add(now, 0)
				r.Refund(now, 0)
				require.Equal(t, before, raw(r))
				return allowed
			}
			require.True(t, look(second, 1))
			require.True(t, look(second, tallyring.Unlimited))
			require.False(t, look(second, 0))
			require.True(t, r.Allow(second, 3, 3))
			require.True(t, look(second, 3))
			require.False(t, look(second, 2))
			require.True(t, look(second, tallyring.Unlimited))
			require.True(t, look(second*tallyring.Tick(1+slots), 1))
			require.True(t, look(0, 3), "a late look")
		})
	}
}

// Limit 0 denies everything, empty or not, and no wait helps.
func TestTrapLimitZero(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			for range 2 {
				for _, cost := range []uint64{0, 1, math.MaxUint64} {
					d := r.Take(second, cost, 0)
					require.False(t, d.Allowed || r.Allow(second, cost, 0))
					require.Equal(t, tallyring.Never, d.RetryAfter)
					require.Zero(t, d.Remaining)
				}
				require.True(t, r.Add(second, 1))
			}
			require.Equal(t, uint64(2), r.Read(second).High, "what was added, and nothing else")
		})
	}
}

// The wait is to the nanosecond, neither rounded nor the whole window: the next event passes 0.4
// s later and not 1 ns before. A client that waits, passes.
func TestTrapRetryAfter(t *testing.T) {
	r, err := New(tallyring.Window{Slots: 2, Width: time.Second})
	require.NoError(t, err)
	require.True(t, r.Allow(second-1, 10, 10))
	d := r.Take(second, 4, 10)
	require.Equal(t, 400*time.Millisecond, d.RetryAfter)
	require.False(t, r.Allow(second+4*second/10-1, 4, 10))
	require.True(t, r.Allow(second+4*second/10, 4, 10))

	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r, now := fresh(), 3*second+7
			for n := range 50 {
				cost := uint64(n%5 + 1)
				d := r.Take(now, cost, 10)
				require.Equal(t, d.Allowed, d.RetryAfter == 0)
				if !d.Allowed {
					require.Positive(t, d.RetryAfter)
					require.LessOrEqual(t, d.RetryAfter, time.Duration(slots)*time.Second)
					now += tallyring.Tick(d.RetryAfter)
					require.False(t, r.Allow(now-1, cost, 10))
					require.True(t, r.Allow(now, cost, 10))
				}
			}
		})
	}
}

// What is left is a whole number of events that do pass, never negative nor wrapped, denied or
// not.
func TestTrapRemaining(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			for _, want := range []uint64{2, 1, 0, 0, 0} {
				require.Equal(t, want, r.Take(second, 1, 3).Remaining)
			}
			require.True(t, r.Add(second, 1000))
			require.Zero(t, r.Take(second, 1, 3).Remaining)
			require.Equal(t, tallyring.Unlimited, r.Take(second, 1, tallyring.Unlimited).Remaining)
		})
	}
	r, err := New(tallyring.Window{Slots: 2, Width: time.Second})
	require.NoError(t, err)
	require.True(t, r.Add(0, 3))
	require.Equal(t, uint64(0), r.Take(second, 0, 3).Remaining)
	require.Equal(t, uint64(0), r.Take(second+second/3-1, 0, 3).Remaining, "0.99 of an event")
	require.Equal(t, uint64(1), r.Take(second+second/3+1, 0, 3).Remaining)
}

// A refund returns what was spent to the bucket that it was spent in, and no more than that.
func TestTrapRefund(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachRing(t, slots, time.Second, func(t *testing.T, fresh func() *Ring) {
			r := fresh()
			d := r.Take(second, 4, 10)
			r.Refund(d.At, 3)
			require.Equal(t, uint64(9), r.Take(second, 0, 10).Remaining)
			r.Refund(d.At, math.MaxUint64)
			require.Equal(t, uint64(10), r.Take(second, 0, 10).Remaining)
			r.Refund(d.At, 1)
			r.Refund(d.At+5*second, 1)
			require.Equal(t, uint64(10), r.Take(second, 0, 10).Remaining)
			require.True(t, r.Allow(second, 2, 10))
			end := second * tallyring.Tick(1+slots)
			require.True(t, r.Allow(end, 5, 10))
			r.Refund(d.At, 5)
			require.Equal(t, uint64(5), r.Read(end).High)
		})
	}
}
