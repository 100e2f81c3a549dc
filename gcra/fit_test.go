package gcra

import (
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestEveryRateThatIsTakenFits lays out rates and bursts of every size, the corners among them, and
// checks what the layouts promise: a unit is at most 1 ns and a whole part of the interval, the
// burst fits, spans MaxLength apart are told apart, and the debt ends within the next span.
func TestEveryRateThatIsTakenFits(t *testing.T) {
	shapes := append(corners(t), shapes...)
	rng := rand.New(rand.NewPCG(rand.Uint64(), 4))
	for range rounds(5000) {
		shapes = append(shapes, anyShape(rng))
	}
	for _, s := range shapes {
		r := s.rate(t)
		// One event's units, by the clock, are the interval.
		rate := new(big.Rat).SetFrac(whole(s.events), whole(uint64(s.per)))
		units := new(big.Rat).SetFrac(whole(r.numerator), whole(r.denominator))
		require.Zero(t, units.Cmp(rate.Mul(rate, new(big.Rat).SetInt(whole(r.perEvent)))), "%+v", s)
		require.GreaterOrEqual(t, r.numerator, r.denominator, "unit of %+v above 1 ns", s)
		require.Less(t, r.numerator/r.denominator, uint64(8), "%+v", s)

		require.GreaterOrEqual(t, r.maxBurst, s.burst, "%+v", s)
		most, over := new(big.Int).Mul(whole(r.maxBurst), whole(r.perEvent)), whole(1<<r.spanBits)
		require.LessOrEqual(t, most.Cmp(over), 0, "%+v: more debt than a span", s)

		spans := times(whole(uint64(tallyring.MaxLength)), units)
		spans.Quo(spans, new(big.Rat).SetInt(over))
		half := whole(1 << (64 - r.far - 1))
		apart := new(big.Rat).Add(spans, big.NewRat(2, 1))
		require.Negative(t, apart.Cmp(new(big.Rat).SetInt(half)), "%+v: spans alias", s)
		require.Equal(t, uint(64), uint(r.far)+64-r.IndexShift()-markBits, "%+v", s)
		require.GreaterOrEqual(t, r.IndexShift(), uint(31), "%+v", s)
	}
}

// corners returns the rates and bursts at the ends of what is taken.
func corners(t *testing.T) (all []shape) {
	pers := []time.Duration{1, 2, 3, 7, 999_999_937, time.Second, tallyring.MaxLength - 1,
		tallyring.MaxLength}
	for _, per := range pers {
		top := uint64(per) * finest
		for _, events := range []uint64{1, 2, uint64(per) - 1, uint64(per), uint64(per) + 1,
			top - 1, top} {
			if events == 0 {
				continue
			}
			most := new(big.Int).Mul(whole(uint64(tallyring.MaxLength)), whole(events))
			most.Div(most, whole(uint64(per)))
			burst := uint64(mostBurst)
			if most.Cmp(whole(burst)) < 0 {
				burst = most.Uint64()
			}
			for _, burst := range []uint64{0, 1, burst/2 + 1, burst} {
				all = append(all, shape{events, per, burst})
			}
			_, err := NewRate(events, per, burst+1)
			require.Error(t, err, "%d per %v, burst %d", events, per, burst+1)
		}
	}
	return all
}

// TestFewEventsMakeWholeUnits checks which rates have a clock that rounds nothing: those of at most
// seven events in lowest terms, where the burst refills within two months.
func TestFewEventsMakeWholeUnits(t *testing.T) {
	const days = 24 * time.Hour
	wholes := 0
	for events := uint64(1); events <= 2000; events++ {
		for _, per := range []time.Duration{time.Second, time.Minute, time.Hour, days} {
			lowest := events / gcd(events, uint64(per))
			burst := max(uint64(59*days/per)*events, 1)
			r := shape{events, per, burst}.rate(t)
			require.Equal(t, lowest <= 7, r.denominator == 1, "%d per %v", events, per)
			if r.denominator == 1 {
				wholes++
				require.Equal(t, lowest, r.whole, "%d per %v", events, per)
			}
		}
	}
	require.Greater(t, wholes, 400)
}

// TestErrorsNameTheValueAndTheCure refuses what cannot be, in one line that names the wrong value,
// and takes the cure that it names.
func TestErrorsNameTheValueAndTheCure(t *testing.T) {
	for _, c := range []struct {
		shape
		wrong, cure string
		cured       func(n uint64) shape
	}{
		{shape{0, time.Second, 1}, "rate is of 0 events", "want 1 or more",
			func(n uint64) shape { return shape{n, time.Second, 1} }},
		{shape{1, 0, 1}, "per 0s", "want per 1ns to 87672h0m0s", nil},
		{shape{1, -time.Second, 1}, "per -1s", "want per 1ns to 87672h0m0s", nil},
		{shape{1, tallyring.MaxLength + 1, 1}, "per 87672h0m0.000000001s",
			"want per 1ns to 87672h0m0s", nil},
		{shape{15, 2, 1}, "rate of 15 per 2ns", "want at most 14",
			func(n uint64) shape { return shape{n, 2, 1} }},
		{shape{math.MaxUint64, time.Second, 1}, "rate of 18446744073709551615 per 1s",
			"want at most 7000000000",
			func(n uint64) shape { return shape{n, time.Second, 1} }},
		{shape{1, time.Second, 1 << 60}, "burst is 1152921504606846976",
			"want at most 315619200",
			func(n uint64) shape { return shape{1, time.Second, n} }},
		{shape{1, time.Second, 315619201}, "burst 315619201 at 1 per 1s takes more than 87672h0m0s",
			"want at most 315619200",
			func(n uint64) shape { return shape{1, time.Second, n} }},
		{shape{1, tallyring.MaxLength, 2}, "burst 2 at 1 per 87672h0m0s", "want at most 1",
			func(n uint64) shape { return shape{1, tallyring.MaxLength, n} }},
		{shape{2, 1, math.MaxUint64}, "burst is 18446744073709551615",
			"want at most 36028797018963968",
			func(n uint64) shape { return shape{2, 1, n} }},
	} {
		_, err := New(c.events, c.per, c.burst)
		require.ErrorContains(t, err, c.wrong)
		require.ErrorContains(t, err, c.cure)
		require.Regexp(t, `^gcra: [^\n]+$`, err.Error())
		if c.cured != nil {
			n, parse := strconv.ParseUint(regexp.MustCompile(`\d+`).FindString(c.cure), 10, 64)
			require.NoError(t, parse)
			s := c.cured(n)
			_, err = New(s.events, s.per, s.burst)
			require.NoError(t, err, "%+v", s)
		}
	}
}
