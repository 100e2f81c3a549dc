package gcra

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestUnitsAreTheExactQuotient compares the multiplication by a reciprocal of 128 bits with exact
// fractions, for clocks of rates of every size, at ticks over the whole range: at random, at its
// ends, and where the next unit begins, which is where a quotient that is slightly off would show.
func TestUnitsAreTheExactQuotient(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 2))
	fractions := 0
	for range rounds(3000) {
		c := anyClock(t, rng)
		if c.denominator > 1 {
			fractions++
		}
		for range 20 {
			now := anyTick(rng, &c)
			require.Equal(t, exactUnits(&c, uint64(now)), c.Units(now), "tick %d of %+v", now, c)
		}
	}
	require.Greater(t, fractions, rounds(3000)/2, "too few clocks were put to the proof")
}

// TestWaitIsTheFewestNanoseconds compares waits with the definition, by exact fractions: so many
// units have passed then, and one fewer the nanosecond before.
func TestWaitIsTheFewestNanoseconds(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 3))
	for range rounds(3000) {
		c := anyClock(t, rng)
		for range 20 {
			now := uint64(anyTick(rng, &c))
			units := rng.Uint64() >> (1 + rng.IntN(62))
			wait := c.wait(now, units)
			begun := wideUnits(&c, whole(now))
			after := func(nanos uint64) *big.Int {
				at := whole(now)
				passed := wideUnits(&c, at.Add(at, whole(nanos)))
				return passed.Sub(passed, begun)
			}
			if after(wait).Cmp(whole(units)) < 0 {
				t.Fatalf("%d ns after %d are fewer than %d units: %+v", wait, now, units, c)
			}
			if wait > 0 && after(wait-1).Cmp(whole(units)) >= 0 {
				t.Fatalf("%d ns after %d, less one, are %d units: %+v", wait, now, units, c)
			}
		}
	}
}

// anyClock returns the clock of some rate.
func anyClock(t *testing.T, rng *rand.Rand) clock {
	r := anyShape(rng).rate(t)
	return r.clock
}

// wideUnits is the definition.
func wideUnits(c *clock, nanos *big.Int) *big.Int {
	units := new(big.Int).Mul(nanos, whole(c.numerator))
	return units.Div(units, whole(c.denominator))
}

// exactUnits is the definition, modulo 2^64.
func exactUnits(c *clock, nanos uint64) uint64 {
	units := wideUnits(c, whole(nanos))
	return units.And(units, whole(math.MaxUint64)).Uint64()
}

// anyTick returns a tick at one of the ends of the range, at the start of a unit or just before, or
// any.
func anyTick(rng *rand.Rand, c *clock) tallyring.Tick {
	edges := []tallyring.Tick{0, 1, math.MaxInt64, math.MaxInt64 - 1}
	nanos := rng.Int64() >> rng.IntN(62)
	switch kind := rng.IntN(8); {
	case kind == 0:
		return edges[rng.IntN(len(edges))]
	case kind < 6 && nanos < math.MaxInt64-8:
		// The last tick whose remainder is as large as can be, found by a unit's own start.
		unit := wideUnits(c, big.NewInt(nanos))
		unit.Add(unit, whole(1)).Mul(unit, whole(c.denominator))
		start := new(big.Int).Div(unit, whole(c.numerator)).Int64()
		return tallyring.Tick(start + rng.Int64N(2))
	}
	return tallyring.Tick(nanos)
}
