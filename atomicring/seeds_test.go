package atomicring_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// The figures of the source documents, with 10 ns buckets scaled to 10 µs: a bucket of 10 ns leaves
// no room for counts beside indexes that last ten years.
const scale = 1000

func ring(t testing.TB, slots int, width time.Duration) *atomicring.Ring {
	t.Helper()
	r, err := atomicring.New(tallyring.Window{Slots: slots, Width: width})
	require.NoError(t, err)
	return r
}

func TestSeedExactWeighting(t *testing.T) {
	r := ring(t, 4, 10*scale)
	for _, tick := range []tallyring.Tick{5, 15, 25, 35} {
		require.True(t, r.Add(tick*scale, 8))
	}
	require.Equal(t, 24.0+8.0*0.5, r.Estimate(35*scale))
	require.Equal(t, 24.0, r.Estimate(40*scale))
	require.Equal(t, 0.0, r.Estimate(1000*scale))
}

func TestSeedPreviousPlusCurrent(t *testing.T) {
	r := ring(t, 2, 1000)
	for range 10 {
		require.True(t, r.Allow(999, 1, 10))
	}
	require.False(t, r.Allow(1000, 1, 10))
	for range 5 {
		require.True(t, r.Allow(1500, 1, 10))
	}
	require.False(t, r.Allow(1500, 1, 10))
}

func TestSeedLateEventGoesToItsOwnBucket(t *testing.T) {
	r := ring(t, 3, 10*scale)
	require.True(t, r.Add(25*scale, 1))
	require.True(t, r.Add(15*scale, 1))
	require.True(t, r.Add(5*scale, 1))
	require.Equal(t, 1.0+1.0+0.5, r.Estimate(25*scale))
	require.True(t, r.Add(35*scale, 1))
	require.False(t, r.Add(5*scale, 1))
	require.Equal(t, 1.0+1.0+0.5, r.Estimate(35*scale))
}

func TestSeedBoundaryBurst(t *testing.T) {
	fixed, two := ring(t, 1, time.Minute), ring(t, 2, time.Minute)
	admitted, bounded := 0, 0
	for _, tick := range []tallyring.Tick{59e9, 60e9} {
		for range 100 {
			if fixed.Allow(tick, 1, 100) {
				admitted++
			}
			if two.Allow(tick, 1, 100) {
				bounded++
			}
		}
	}
	require.Equal(t, 200, admitted, "a fixed window admits both bursts")
	require.Equal(t, 100, bounded, "two buckets admit one")
}

func TestSeedNinetyThreeOfHundred(t *testing.T) {
	r := ring(t, 2, time.Minute)
	require.True(t, r.Add(0, 84))
	require.True(t, r.Add(60e9, 30))
	require.Equal(t, 93.0, r.Estimate(75e9))
	d := r.Take(75e9, 7, 100)
	require.True(t, d.Allowed)
	require.Equal(t, uint64(0), d.Remaining)
	require.False(t, r.Allow(75e9, 1, 100))
}
