package limiter_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

const second = tallyring.Tick(time.Second)

// TestBoundaryBurst is the example of the literature: 100 per minute, 100 events at second 59 and
// 100 at second 60. A fixed window lets all 200 through, every other kind 100.
func TestBoundaryBurst(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 100)
		first := admitted(l, "client-1", start+59*second, 100)
		second := admitted(l, "client-1", start+60*second, 100)
		if k.slots == 1 {
			require.Equal(t, 200, first+second)
		} else {
			require.Equal(t, 100, first+second)
		}
	})
}

// TestBoundaryBurstOfTheQuestion sends the bursts at seconds 58 and 62. The interpolated two
// buckets let 3 of the second burst through, since 58/60 of the first still count.
func TestBoundaryBurstOfTheQuestion(t *testing.T) {
	want := map[string]int{"fixed": 200, "two": 103}
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 100)
		passed := admitted(l, "c", start+58*second, 100) + admitted(l, "c", start+62*second, 100)
		if expected, ok := want[k.name]; ok {
			require.Equal(t, expected, passed)
		} else {
			require.Equal(t, 100, passed)
		}
	})
}

// TestNinetyThreeOfAHundred is the other example: 84 events in the last minute, 30 in this one, 15
// seconds into it: 30 + 84*0.75 = 93, so 7 more pass.
func TestNinetyThreeOfAHundred(t *testing.T) {
	l := kinds[1].build(t, 100)
	require.Equal(t, 84, admitted(l, "c", start-30*second, 84))
	now := start + 15*second
	for i := range 30 {
		at := start + tallyring.Tick(i)*second/2
		if !l.AllowAt("c", at, 1) {
			require.Less(t, at, now, "the estimate is above 99 early in the minute")
			require.True(t, l.AllowAt("c", now, 1))
		}
	}
	require.Equal(t, tallyring.Reading{Low: 30, Estimate: 93, High: 114}, l.PeekAt("c", now))
	require.EqualValues(t, 7, l.TakeAt("c", now, 0).Remaining)
	require.Equal(t, 7, admitted(l, "c", now, 100))
}

// TestTwoBucketsOfTheSeed is the seed's own assertion: 10 per 1000 ns. The first ten pass at 999,
// none at 1000, five at 1500.
func TestTwoBucketsOfTheSeed(t *testing.T) {
	l, err := limiter.New(10, 1000)
	require.NoError(t, err)
	require.Equal(t, 10, admitted(l, "a", 999, 20))
	require.Equal(t, 0, admitted(l, "a", 1000, 20))
	require.Equal(t, 5, admitted(l, "a", 1500, 20))
}

// TestTrailingWindowsUnderAnAdversary sends greedy bursts at every edge of buckets, where an
// interpolated window is weakest, and looks at every trailing window of what was admitted.
func TestTrailingWindowsUnderAnAdversary(t *testing.T) {
	const limit = 20
	length := tallyring.Tick(window)
	each(t, func(t *testing.T, k kind) {
		width := max(tallyring.Tick(k.width), 1)
		worst := 0
		for range rounds(60) {
			l := k.build(t, limit, limiter.WithKeys(1))
			var ticks []tallyring.Tick
			now := start
			for range 400 {
				steps := []tallyring.Tick{0, 1, width - now%width - 1, width - now%width,
					length/2 + 1, length - 1, length, tallyring.Tick(rand.Int64N(int64(length)))}
				now += steps[rand.IntN(len(steps))]
				burst := 1 + rand.IntN(2*limit)
				ticks = append(ticks, slices.Repeat([]tallyring.Tick{now},
					admitted(l, "a", now, burst))...)
			}
			worst = max(worst, worstTrailing(ticks, length))
		}
		if k.strict || k.slots == 0 {
			require.Equal(t, limit, worst, "never above the limit, and it is reached")
		} else {
			require.LessOrEqual(t, worst, 2*limit)
			require.Greater(t, worst, limit, "the adversary found no gap: it is a weak one")
		}
	})
}
