package limiter_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// year is a tenth of what every layout tells apart.
const year = tallyring.MaxLength / 10

// jumper moves a clock forward and back between two ticks that lie ten years apart or less, and
// asks a limiter by it.
type jumper struct {
	*testing.T
	kind       kind
	clock      *tallyring.ManualClock
	limiter    *limiter.Limiter
	model      *model
	random     *rand.Rand
	from, to   int64
	back, away int // jumps back, and jumps by more than a window
}

// jump sets the clock: to an end, near the edge of a bucket, or by some step of any size.
func (j *jumper) jump() {
	now := int64(j.clock.Now())
	width := max(int64(j.kind.width), int64(time.Second))
	next := now
	switch j.random.IntN(8) {
	case 0:
		next = []int64{j.from, j.from + 1, j.to - 1, j.to, j.to - width}[j.random.IntN(5)]
	case 1, 2:
		next = now/width*width + j.random.Int64N(3) - 1
	case 3, 4:
		next += j.random.Int64N(2*width) - width
	default:
		step := min(int64(1)<<j.random.IntN(60), j.to-j.from)
		if j.random.IntN(2) == 0 {
			step = -step
		}
		if step > j.to-now {
			step = j.to - now
		}
		next += step
	}
	next = max(min(next, j.to), j.from)
	if next < now {
		j.back++
	}
	if next-now > int64(window) || now-next > int64(window) {
		j.away++
	}
	j.clock.Set(tallyring.Tick(next))
}

// ask takes one event by the clock, through one of its verbs, and holds it against the model.
func (j *jumper) ask(key string, cost uint64) {
	now := j.clock.Now()
	place := j.model.place(key, now)
	want := j.model.allow(key, now, cost)
	if j.random.IntN(2) == 0 {
		require.Equal(j, want, j.limiter.AllowN(key, cost), "%s at %d, cost %d", key, now, cost)
		return
	}
	d := j.limiter.Take(key, cost)
	require.Equal(j, want, d.Allowed, "%s at %d, cost %d", key, now, cost)
	require.Equal(j, tallyring.Tick(place), d.At, "%s at %d", key, now)
	require.Equal(j, j.model.remaining(key, now), d.Remaining, "%s at %d", key, now)
	require.GreaterOrEqual(j, min(d.RetryAfter, d.ResetAfter), time.Duration(0))
	require.Equal(j, want, d.RetryAfter == 0)
	if want && cost > 0 && j.random.IntN(4) == 0 {
		j.limiter.RefundAt(key, d.At, cost-1)
		j.model.refund(key, d.At, cost-1)
	}
}

// Goal: a clock that is set forward and back, between any two ticks that lie ten years apart or
// less, makes a limiter answer as the contract says, at 0, at 1, and at the end of time. Method:
// random jumps, and a model that remembers each event. There is one key that counts, so that none
// takes its cell while the clock is far ahead.
func TestAClockThatJumpsForwardAndBack(t *testing.T) {
	back, away := 0, 0
	each(t, func(t *testing.T, k kind) {
		for _, span := range [][2]int64{
			{0, int64(10 * year)}, {-int64(year), int64(9 * year)},
			{int64(start), int64(start) + int64(3*window)},
			{math.MaxInt64 - int64(10*year), math.MaxInt64 - int64(window)},
			{math.MaxInt64 - int64(4*window), math.MaxInt64},
		} {
			for range rounds(20) {
				seed := rand.Uint64()
				j := &jumper{T: t, kind: k, clock: &tallyring.ManualClock{}, model: newModel(k, 12),
					random: rand.New(rand.NewPCG(seed, 0)), from: span[0], to: span[1]}
				j.limiter = k.build(t, 12, limiter.WithClock(j.clock), limiter.WithKeys(1))
				j.clock.Set(tallyring.Tick(j.from + j.random.Int64N(j.to-j.from)))
				for range 60 {
					j.jump()
					j.ask("a", j.random.Uint64N(5))
				}
				back, away = back+j.back, away+j.away
			}
		}
	})
	require.Greater(t, min(back, away), 1000)
}

// Goal: ticks far ahead of the clock are counted as such, also where the clock and its window end
// with time itself. Method: a clock at its first ticks and its last, and ticks around its window.
func TestAheadAtTheEndsOfTime(t *testing.T) {
	for _, now := range []tallyring.Tick{
		math.MinInt64, -1, 0, 1, math.MaxInt64 - tallyring.Tick(window), math.MaxInt64,
	} {
		clock := &tallyring.ManualClock{}
		clock.Set(now)
		l, err := limiter.New(10, window, limiter.WithClock(clock))
		require.NoError(t, err)
		allowed := max(int64(now), 0) + min(int64(window), math.MaxInt64-max(int64(now), 0))
		require.True(t, l.AllowAt("a", tallyring.Tick(allowed), 1))
		require.Zero(t, l.StatsAt(now).Ahead, "at %d", now)
		if allowed < math.MaxInt64 {
			require.True(t, l.AllowAt("b", tallyring.Tick(allowed+1), 1))
			require.EqualValues(t, 1, l.StatsAt(now).Ahead, "at %d", now)
		}
	}
}
