package gcra

import (
	"math/bits"

	"github.com/tallyring/tallyring"
)

// clock counts time in units, numerator to every denominator nanoseconds. There is no less than one
// unit to a nanosecond.
type clock struct {
	whole    uint64 // units in a nanosecond, rounded down
	partHigh uint64 // what is left, times 2^128, rounded up; 0 if and only if nothing is left
	partLow  uint64

	numerator, denominator uint64
}

// newClock needs a fraction of 1 or more, below 8, and a denominator of MaxLength or less.
func newClock(numerator, denominator uint64) clock {
	c := clock{numerator: numerator, denominator: denominator}
	c.whole = numerator / denominator
	rest := numerator % denominator
	c.partHigh, rest = bits.Div64(rest, 0, denominator)
	c.partLow, rest = bits.Div64(rest, 0, denominator)
	if rest > 0 {
		var carry uint64
		c.partLow, carry = bits.Add64(c.partLow, 1, 0)
		c.partHigh += carry
	}
	return c
}

// Units returns the unit that now falls in, modulo 2^64. The tick must not be negative.
func (c *clock) Units(now tallyring.Tick) uint64 {
	units := uint64(now) * c.whole
	if c.partHigh != 0 {
		units += c.part(uint64(now))
	}
	return units
}

// part returns the units of so many nanoseconds beside the whole ones. It is the quotient rounded
// down, exactly: the reciprocal is too large by less than 2^-128, which adds less than 2^-65 for
// every tick, and no fraction of a denominator below 2^59 is that close below a whole number.
func (c *clock) part(nanos uint64) uint64 {
	high, low := bits.Mul64(nanos, c.partHigh)
	carried, _ := bits.Mul64(nanos, c.partLow)
	_, carry := bits.Add64(low, carried, 0)
	return high + carry
}

// wait returns the fewest nanoseconds after a tick in which so many units, below 2^63, pass.
func (c *clock) wait(nanos, units uint64) uint64 {
	if units == 0 {
		return 0
	}
	if c.denominator == 1 {
		return (units-1)/c.numerator + 1
	}
	// Of the tick's own unit, past/denominator are over.
	high, low := bits.Mul64(nanos, c.numerator%c.denominator)
	past := bits.Rem64(high, low, c.denominator)
	high, low = bits.Mul64(units, c.denominator)
	low, borrow := bits.Sub64(low, past, 0)
	quotient, remainder := bits.Div64(high-borrow, low, c.numerator)
	if remainder > 0 {
		quotient++
	}
	return quotient
}
