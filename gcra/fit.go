package gcra

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/tallyring/tallyring"
)

const (
	// markBits is what a table keeps of a word. It is kept free everywhere, so that a bucket of its
	// own decides as a cell of a table does.
	markBits = 1
	unmarked = 1<<63 - 1

	// leastSpanBits is the fewest bits of units within a span. The longer a span, the rarer a word
	// moves from one to the next, which takes twice as long as a charge within it, but the later
	// the word expires.
	leastSpanBits = 30

	// finest is the most events per nanosecond, and mostBurst the largest burst. With both, and a
	// burst that refills within MaxLength, a unit of at most 1 ns always fits (see fits):
	//   below 1 event per ns, ceil(interval) units to an event make less than 2 units per ns, and
	//     burst*(interval+1) <= MaxLength + 2^55 < 2^59 units of debt;
	//   above it, one unit to an event makes at most 7 per ns, and 2^55 units of debt.
	finest    = 7
	mostBurst = 1 << 55
)

// fit is how a rate is laid out.
type fit struct {
	perEvent uint64 // units
	spanBits int
	clock    clock
}

// newFit returns the layout for a rate in lowest terms and the largest burst, all of which check
// has passed: a nanosecond of whole units where that fits, and otherwise the finest unit.
func newFit(events, perNanos, burst uint64) fit {
	perEvent := perNanos
	if _, ok := fits(events, perNanos, burst, perEvent); !ok {
		least, most := uint64(1), perNanos // least fits, most does not
		for most-least > 1 {
			middle := least + (most-least)/2
			if _, ok := fits(events, perNanos, burst, middle); ok {
				least = middle
			} else {
				most = middle
			}
		}
		perEvent = least
	}
	spanBits, _ := fits(events, perNanos, burst, perEvent)
	common := gcd(perNanos, perEvent)
	numerator := events * (perEvent / common)
	return fit{perEvent, spanBits, newClock(numerator, perNanos/common)}
}

// fits returns how many bits a span takes where an event is so many units, and whether the word
// holds that: spans MaxLength apart, and two more, lie within half of the indexes that are left. It
// fits the less the more units there are.
func fits(events, perNanos, burst, perEvent uint64) (spanBits int, ok bool) {
	over, debt := bits.Mul64(max(burst, 1), perEvent)
	high, low := bits.Mul64(events, perEvent)
	if over > 0 || high >= perNanos {
		return 0, false
	}
	perNano, rest := bits.Div64(high, low, perNanos)
	spanBits = max(bits.Len64(debt-1), leastSpanBits)
	if perNano > finest || spanBits > 64-markBits-4 {
		return 0, false
	}
	high, low = bits.Mul64(rest, uint64(tallyring.MaxLength))
	part, _ := bits.Div64(high, low, perNanos)
	units := perNano*uint64(tallyring.MaxLength) + part
	return spanBits, units+2<<spanBits < 1<<(64-markBits-2)
}

// check returns an error that says which value is wrong and what would be right.
func check(events uint64, per time.Duration, burst uint64) error {
	switch {
	case events == 0:
		return fmt.Errorf("gcra: rate is of 0 events, want 1 or more: " +
			"what denies everything is a burst of 0")
	case per <= 0 || per > tallyring.MaxLength:
		return fmt.Errorf("gcra: rate is per %v, want per %v to %v",
			per, time.Nanosecond, tallyring.MaxLength)
	case events > uint64(per)*finest:
		return fmt.Errorf("gcra: rate of %d per %v is above %d per nanosecond, want at most %d",
			events, per, finest, uint64(per)*finest)
	}
	high, low := bits.Mul64(events, uint64(tallyring.MaxLength))
	most, _ := bits.Div64(high, low, uint64(per))
	switch {
	case burst > mostBurst:
		return fmt.Errorf("gcra: burst is %d, want at most %d", burst, min(most, mostBurst))
	case burst > most:
		return fmt.Errorf("gcra: burst %d at %d per %v takes more than %v to refill, "+
			"want at most %d", burst, events, per, tallyring.MaxLength, most)
	}
	return nil
}

// gcd is Euclid's.
func gcd(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
