package gcra

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestNothingAllocates runs every verb on buckets of every shape, admitted and denied, within a
// span and across, and counts allocations.
func TestNothingAllocates(t *testing.T) {
	for _, s := range shapes {
		b := bucket(t, s.events, s.per, s.burst)
		now, admitted, denied := tallyring.Tick(1e17), 0, 0
		n := testing.AllocsPerRun(100, func() {
			now += tallyring.Tick(b.rate.Span()) / 3
			b.Add(now, 1)
			b.Refund(now, s.burst)
			d := b.Take(now, s.burst)
			admitted += reached(d.Allowed)
			denied += reached(!b.Allow(now, 1))
			denied += reached(!b.Take(now-1, s.burst).Allowed)
			b.Refund(d.At, b.Read(now).High)
			admitted += reached(b.Allow(now, 1))
		})
		require.Zero(t, n, "%+v", s)
		require.Positive(t, min(admitted, denied), "%+v", s)
	}
}

// TestWordHasALineOfItsOwn checks what Bytes says.
func TestWordHasALineOfItsOwn(t *testing.T) {
	require.Equal(t, tallyring.PadBytes, bucket(t, 1, 1, 1).Bytes())
}
