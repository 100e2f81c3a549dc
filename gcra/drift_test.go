package gcra

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestMillionUpdatesDoNotDrift charges buckets a million times, 1 ns to 1 ms apart, and compares
// when they are due with exact integers: on the clock of units the difference is 0 at the end and
// all along, and beside a bucket whose clock rounds nothing it is less than one unit.
func TestMillionUpdatesDoNotDrift(t *testing.T) {
	for _, s := range []shape{
		{2_000_000, time.Second, 1_000_000},
		{3_000_017, time.Second, 1_000_000},
		{98_000_000, time.Second, 1_000_000},
		{1_000_000, 997 * time.Millisecond, 1_000_000},
		{1_000_000_007, time.Second, 1_000_000_000},
	} {
		r := s.rate(t)
		rng := rand.New(rand.NewPCG(rand.Uint64(), s.events))
		word, now := uint64(0), tallyring.Tick(1767225600e9+rng.Int64N(1e9))
		due := new(big.Int)   // in units
		ideal := new(big.Int) // in 1/events of a nanosecond
		idles := 0
		step, exact := whole(0), whole(0)
		for i := range rounds(1_000_000) {
			now += tallyring.Tick(1 + rng.Int64N(1e6)>>rng.IntN(20))
			cost := 1 + rng.Uint64N(3)
			word, _ = r.Add(word, now, cost)

			units := exact.SetInt64(int64(now))
			units.Mul(units, whole(r.numerator)).Div(units, whole(r.denominator))
			if units.Cmp(due) > 0 {
				due.Set(units)
				idles++
			}
			due.Add(due, step.SetUint64(cost*r.perEvent))
			exact.SetInt64(int64(now)).Mul(exact, whole(s.events))
			if exact.Cmp(ideal) > 0 {
				ideal.Set(exact)
			}
			ideal.Add(ideal, step.SetUint64(cost*uint64(s.per)))
			if i%1000 == 0 || i == rounds(1_000_000)-1 {
				require.Zero(t, dueOf(r, word, now).Cmp(due), "%+v: after %d updates", s, i)
				requireWithinUnit(t, r, s, due, ideal)
			}
		}
		require.Greater(t, idles, 1000, "%+v: the bucket was hardly ever full", s)
	}
}

// dueOf returns the unit at which word is due, not reduced: now lies in its span or a later one.
func dueOf(r *Rate, word uint64, now tallyring.Tick) *big.Int {
	units := wideUnits(&r.clock, nanosOf(now))
	span := new(big.Int).Rsh(units, uint(r.spanBits))
	span.Sub(span, big.NewInt(r.behind(word, r.Units(now))))
	span.Lsh(span, uint(r.spanBits))
	return span.Add(span, whole(word&(r.newer-1)))
}

// requireWithinUnit fails unless due, in units, is ideal, in 1/events of a nanosecond, or less than
// one unit before it.
func requireWithinUnit(t *testing.T, r *Rate, s shape, due, ideal *big.Int) {
	t.Helper()
	unit := new(big.Rat).SetFrac(whole(r.denominator), whole(r.numerator))
	early := new(big.Rat).SetFrac(ideal, whole(s.events))
	early.Sub(early, times(due, unit))
	require.GreaterOrEqual(t, early.Sign(), 0, "%+v: due late", s)
	require.Negative(t, early.Cmp(unit), "%+v: due a unit early", s)
	if r.denominator == 1 {
		require.Zero(t, early.Sign(), "%+v: a clock of whole units rounds", s)
	}
}

// TestNoStretchHoldsMoreThanItsShare lets greedy clients take what they get at random ticks, and
// holds every stretch between two of them to the bound in the package comment, in exact integers:
// the burst, and what the stretch pays for, and less than a unit's part of an event.
func TestNoStretchHoldsMoreThanItsShare(t *testing.T) {
	tight := 0
	for range rounds(100) {
		s := anyShape(rand.New(rand.NewPCG(rand.Uint64(), 5)))
		s.burst = min(s.burst, 1+rand.Uint64N(20))
		r := s.rate(t)
		step := r.wait(0, r.perEvent)
		var ticks []tallyring.Tick
		var sums []uint64 // admitted before each tick
		word, sum, now := uint64(0), uint64(0), tallyring.Tick(rand.Int64N(1<<60))
		for range 120 {
			if now += tallyring.Tick(rand.Uint64N(step*2 + 2)); now > 1<<62 {
				break
			}
			ticks, sums = append(ticks, now), append(sums, sum)
			for {
				cost := 1 + rand.Uint64N(2)
				next, ok := r.Next(word, now, cost, s.burst)
				if !ok && cost == 1 {
					break
				}
				if ok {
					word, sum = next, sum+cost
				}
			}
		}
		for j := range ticks {
			after := sum
			if j+1 < len(sums) {
				after = sums[j+1]
			}
			for i := range j + 1 {
				bound := stretchBound(r, s, uint64(ticks[j]-ticks[i]))
				if after-sums[i] > bound {
					t.Fatalf("%+v: %d events from %d to %d, want at most %d",
						s, after-sums[i], ticks[i], ticks[j], bound)
				}
				tight += reached(after-sums[i] == bound && i < j)
			}
		}
	}
	require.Greater(t, tight, 1000, "the bound was hardly ever met")
}

// stretchBound returns the most whole events that may pass between two ticks so far apart.
func stretchBound(r *Rate, s shape, nanos uint64) uint64 {
	units := new(big.Int).Mul(whole(nanos), whole(r.numerator))
	units.Add(units, whole(r.denominator-1)).Div(units, whole(r.denominator))
	return s.burst + units.Div(units, whole(r.perEvent)).Uint64()
}
