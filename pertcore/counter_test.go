package pertcore

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// TestCounterIsOneRing gives a counter and one plain ring the same adds, late ones and zeros among
// them, each add on the ring of a P drawn by the scheduler, and compares what they read.
func TestCounterIsOneRing(t *testing.T) {
	dropped := 0
	for round := range 200 {
		w := tallyring.Window{Slots: 1 + round%8, Width: 1000, Strict: round%8 > 0 && round%3 == 0}
		c, err := NewCounter(w)
		require.NoError(t, err)
		r, err := atomicring.New(w)
		require.NoError(t, err)
		latest := tallyring.Tick(round%2) * 1767225600e9
		for range 300 {
			latest += tallyring.Tick(rand.Int64N(600))
			now := latest - tallyring.Tick(rand.Int64N(2)*rand.Int64N(9000))
			if rand.IntN(50) == 0 {
				now, latest = latest+20_000, latest+20_000
			}
			count := rand.Uint64N(4)
			kept := r.Add(now, count)
			require.Equal(t, kept, c.Add(now, count), "%+v now %d count %d", w, now, count)
			if !kept {
				dropped++
			}
			one, all := r.Read(now), c.Read(now)
			require.Equal(t, [2]uint64{one.Low, one.High}, [2]uint64{all.Low, all.High})
			require.InDelta(t, one.Estimate, all.Estimate, 1e-6)
		}
	}
	require.Greater(t, dropped, 100)
}

// TestReadsLieBetween reads a counter while a crowd adds. Each reading holds what had been added
// before it began, and no more than had begun when it ended.
//
// On a busy machine a round may pass without a reading while adds run, so rounds go on until there
// were enough.
func TestReadsLieBetween(t *testing.T) {
	withProcs(t, 4)
	moving := 0
	for round := 0; moving <= 10 && round < 100; round++ {
		moving += readWhileAdding(t)
	}
	require.Greater(t, moving, 10, "no reading was taken while adds were running")
}

// readWhileAdding is one round. It returns how many readings were taken while adds were running.
func readWhileAdding(t *testing.T) (moving int) {
	c, err := NewCounter(tallyring.Window{Slots: 3, Width: time.Second})
	require.NoError(t, err)
	var begun, done atomic.Uint64
	const each = 30_000
	crowd(5, func(g int) {
		if g < 4 {
			for range each {
				begun.Add(1)
				c.Add(tallyring.Tick(g)*5e8, 1) // in three buckets, late ones too
				done.Add(1)
			}
			return
		}
		for {
			before := done.Load()
			sum := c.Read(2e9).High
			after := begun.Load()
			if sum < before || sum > after {
				t.Errorf("read %d, want %d to %d", sum, before, after)
				return
			}
			if before < after {
				moving++
			}
			if before == 4*each {
				return
			}
		}
	})
	require.Equal(t, uint64(4*each), c.Read(2e9).High)
	return moving
}

// TestReadersOvertakenByATurn does by hand what a reader does that sleeps while a ring moves on:
// its merge holds neither what was counted before nor what is counted now, and newest says so.
func TestReadersOvertakenByATurn(t *testing.T) {
	c, err := NewCounter(tallyring.Window{Slots: 2, Width: 1000})
	require.NoError(t, err)
	second, err := atomicring.New(c.window)
	require.NoError(t, err)
	c.rings = append(c.rings[:1:1], second)
	c.rings[0].Add(10, 5)
	c.rings[1].Add(10, 6)
	now := max(10, tallyring.Tick(c.newest.Load()))
	c.turn(9000)
	c.rings[0].Add(9000, 2)
	require.Equal(t, uint64(8), c.merge(now).High)
	require.Greater(t, tallyring.Tick(c.newest.Load()), now)
	require.Equal(t, uint64(2), c.Read(10).High)
}

// TestZeroCountsNothing adds 0 in a later bucket, which must not become the newest.
func TestZeroCountsNothing(t *testing.T) {
	c, err := NewCounter(tallyring.Window{Slots: 2, Width: 1000})
	require.NoError(t, err)
	require.True(t, c.Add(10, 5))
	require.True(t, c.Add(9000, 0), "nothing is counted")
	require.Equal(t, uint64(5), c.Read(10).High, "an add of 0 must not move the newest bucket")
	require.True(t, c.Add(9000, 2))
	require.False(t, c.Add(10, 1))
	require.Equal(t, uint64(2), c.Read(10).High)
	require.Equal(t, len(c.rings), c.Shards())
	require.Equal(t, c.Shards()*c.rings[0].Bytes(), c.Bytes())
}
