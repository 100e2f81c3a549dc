package atomicring

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestBucketOfTickIsTheExactQuotient compares the multiplication by a reciprocal, in each place
// that does it, with the division, for widths over the whole range and ticks at the ends of
// buckets, at the ends of the range, and at random.
func TestBucketOfTickIsTheExactQuotient(t *testing.T) {
	for _, width := range divisors(rounds(2000)) {
		w := tallyring.Window{Slots: 1, Width: width}
		p, errPacked := NewPacked(w, 0)
		g, errTagged := NewTagged(w, 0)
		if errPacked != nil {
			p.buckets = newBuckets(w, 56, 8)
		}
		for range 60 {
			now := dividend(uint64(width))
			index, elapsed := p.at(now)
			want := uint64(max(now, 0)) / uint64(width)
			if index != want || elapsed != uint64(max(now, 0))%uint64(width) {
				t.Fatalf("at(%d) of width %d is %d and %d", now, width, index, elapsed)
			}
			if errPacked == nil && now >= 0 {
				word := want << p.IndexShift()
				require.Zero(t, p.Counts(word, now), "width %d, tick %d", width, now)
			}
			if errTagged == nil {
				word := want << g.IndexShift()
				require.Equal(t, word, g.base(now), "width %d, tick %d", width, now)
			}
		}
	}
}

// divisors returns widths: all small ones, those around powers of two, around the whole fractions
// of the range, and any.
func divisors(random int) (widths []time.Duration) {
	for width := time.Duration(2); width < 300; width++ {
		widths = append(widths, width)
	}
	add := func(width int64) {
		if width >= 2 && width <= int64(tallyring.MaxLength) {
			widths = append(widths, time.Duration(width))
		}
	}
	for shift := range 63 {
		for off := int64(-2); off <= 2; off++ {
			add(int64(1)<<shift + off)
			add(math.MaxInt64>>shift + off)
			add(int64(tallyring.MaxLength)>>shift + off)
		}
	}
	for range random {
		add(rand.Int64N(int64(tallyring.MaxLength)) >> rand.IntN(58))
	}
	return widths
}

// dividend returns a tick where a division that is slightly off would show, or any.
func dividend(width uint64) tallyring.Tick {
	edges := []int64{0, 1, -1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 1}
	switch kind := rand.IntN(8); {
	case kind == 0:
		return tallyring.Tick(edges[rand.IntN(len(edges))])
	case kind < 6:
		most := uint64(math.MaxInt64) / width
		quotient := most - rand.Uint64N(most>>rand.IntN(63)+1)
		return tallyring.Tick(quotient*width) - tallyring.Tick(rand.IntN(2))
	}
	return tallyring.Tick(rand.Int64() >> rand.IntN(62))
}
