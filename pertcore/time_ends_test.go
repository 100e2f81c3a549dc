package pertcore

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// endWindows are windows of awkward widths.
func endWindows() (windows []tallyring.Window) {
	for _, slots := range []int{1, 2, 3, 7, 9} {
		for _, width := range []time.Duration{1500, 1 << 14, 999_983, time.Second, time.Hour,
			tallyring.MaxLength / time.Duration(max(slots-1, 1))} {
			windows = append(windows, tallyring.Window{
				Slots: slots, Width: width, Strict: slots == 3 || slots == 7})
		}
	}
	return windows
}

// storedBits returns how many bits of a bucket index a ring's words keep.
func storedBits(ring *atomicring.Tagged) uint {
	return uint(bits.Len64(ring.Head(math.MaxUint64))) - ring.IndexShift()
}

// moments returns ticks at which buckets begin and from which a span of ticks can be driven: an
// early one, the latest that the last tick allows, some around the wrap of an index of so many
// bits and around half of it, and ten years from these.
func moments(w tallyring.Window, indexBits uint, span tallyring.Tick) []tallyring.Tick {
	width := uint64(w.Width)
	latest := tallyring.Tick(math.MaxInt64) - span
	all := []tallyring.Tick{
		tallyring.Tick(8 * width), latest - latest%tallyring.Tick(width),
	}
	for _, bucket := range []uint64{1 << indexBits, 1 << (indexBits - 1), 3 << (indexBits - 1)} {
		for before := uint64(1); before <= 7; before += 2 {
			if bucket-before > uint64(latest)/width || bucket < 16 {
				continue
			}
			at := (bucket - before) * width
			all = append(all, tallyring.Tick(at))
			at += uint64(tallyring.MaxLength) / width * width
			if at < uint64(latest) {
				all = append(all, tallyring.Tick(at))
			}
		}
	}
	return all
}

// answer is what one call said: allowed alone for the verbs that say no more.
type answer struct {
	tallyring.Decision
	tallyring.Reading
}

// reach returns how far a script goes: 16 buckets, or ten years, since no layout promises more.
func reach(w tallyring.Window) int64 {
	return min(16*int64(w.Width), int64(tallyring.MaxLength))
}

// same fails the test at the first answer that differs.
func same(t *testing.T, want, got []answer, form string, values ...any) {
	t.Helper()
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf(form+": answer %d is %+v, want %+v", append(values, i, got[i], want[i])...)
		}
	}
}

// relative returns the next tick of a script, up to its reach after its moment, or late.
func relative(random *rand.Rand, latest *int64, w tallyring.Window) tallyring.Tick {
	width := int64(w.Width)
	if random.IntN(3) == 0 {
		*latest = min(*latest+random.Int64N(width), reach(w))
	}
	if random.IntN(4) == 0 {
		return tallyring.Tick(*latest - random.Int64N(min(*latest, 4*width)+1))
	}
	return tallyring.Tick(*latest)
}

// Goal: no answer of a limiter depends on where in time it is: not on a wrap of its index, nor on
// half the range, nor on the end of time, in any mode. Method: one random script, played from
// moments of every kind and over several shards, must give the same answers, but for the ticks.
func TestLimitersDoNotDependOnWhereInTime(t *testing.T) {
	compared, folds := 0, uint64(0)
	for _, w := range endWindows() {
		for _, limit := range []uint64{5, 40, 200} {
			first, err := newLimiter(w, limit, 2)
			require.NoError(t, err)
			seed, span := rand.Uint64(), tallyring.Tick(reach(w))
			var want []answer
			for i, from := range moments(w, storedBits(&first.ring), span) {
				l, err := newLimiter(w, limit, 2)
				require.NoError(t, err)
				got := l.playFrom(w, from, seed)
				if i == 0 {
					want = got
				}
				same(t, want, got, "%+v from %d, limit %d, seed %#x", w, from, limit, seed)
				compared++
				folds += l.look().generation() - 1
			}
		}
	}
	require.Greater(t, compared, 500)
	require.Greater(t, folds, uint64(1000))
}

// playFrom plays a script and returns all answers. No event is taken back in whole: a word whose
// counts are all 0 is empty, which shows where its index is 0 as well.
func (l *Limiter) playFrom(
	w tallyring.Window, from tallyring.Tick, seed uint64,
) (answers []answer) {
	random, latest := rand.New(rand.NewPCG(seed, 0)), int64(0)
	for range 120 {
		now := from + relative(random, &latest, w)
		cost := random.Uint64N(5)
		shard := &l.shards[random.IntN(len(l.shards))].word
		var d tallyring.Decision
		if random.IntN(3) > 0 {
			d.Allowed = l.decide(shard, now, cost).allowed
		} else {
			d = l.Take(now, cost)
			if d.Allowed && cost > 2 {
				l.Refund(d.At, 1)
			}
			d.At -= from
		}
		answers = append(answers, answer{d, l.Read(now)})
	}
	return answers
}

// Goal: the same of a counter, late adds that are dropped included.
func TestCountersDoNotDependOnWhereInTime(t *testing.T) {
	compared, dropped := 0, 0
	for _, w := range endWindows() {
		layout, err := atomicring.NewTagged(w, 0)
		require.NoError(t, err)
		seed, span := rand.Uint64(), tallyring.Tick(reach(w))
		var want []answer
		for i, from := range moments(w, storedBits(&layout), span) {
			c, err := NewCounter(w)
			require.NoError(t, err)
			random, latest := rand.New(rand.NewPCG(seed, 0)), int64(0)
			var got []answer
			for range 120 {
				now := from + relative(random, &latest, w)
				counted := c.Add(now, random.Uint64N(5))
				got = append(got, answer{tallyring.Decision{Allowed: counted}, c.Read(now)})
				if !counted {
					dropped++
				}
			}
			if i == 0 {
				want = got
			}
			same(t, want, got, "%+v from %d, seed %#x", w, from, seed)
			compared++
		}
	}
	require.Greater(t, compared, 150)
	require.Greater(t, dropped, 100)
}

// Goal: the center's ring keeps ten years within half the range of its index, beside the marks of
// the modes. Method: for every window, the oldest tick that is ten years late is late, and the
// newest that is ten years ahead has left nothing behind.
func TestTenYearsBesideTheMarks(t *testing.T) {
	for _, w := range endWindows() {
		if int64(w.Length()) > int64(tallyring.MaxLength)/4 {
			continue // ten years are not many windows then
		}
		l, err := newLimiter(w, 10, 2)
		require.NoError(t, err)
		years := int64(tallyring.MaxLength/w.Width) + 1
		require.Less(t, years, int64(1)<<(storedBits(&l.ring)-1), "%+v", w)
		early := 3 * tallyring.Tick(w.Width)
		late := early + tallyring.Tick(tallyring.MaxLength)
		require.Equal(t, 10, passing(l, 20, early))
		require.Zero(t, l.Read(late).High)
		require.Equal(t, 10, passing(l, 20, late), "%+v", w)
		require.Equal(t, 0, passing(l, 20, early), "%+v: ten years late", w)
		l.Refund(early, 5)
		require.Equal(t, uint64(10), l.Read(late).High, "%+v: what left ten years ago", w)
	}
}

// Goal: the first ticks and the last are ticks like any other. Method: a limit of 10 asked for 20
// times at each of them.
func TestTheFirstTicksAndTheLast(t *testing.T) {
	const last, second = tallyring.Tick(math.MaxInt64), tallyring.Tick(time.Second)
	for _, slots := range []int{1, 2, 3, 7} {
		for _, now := range []tallyring.Tick{
			0, 1, second - 1, second, last - second, last - second + 1, last - 1, last,
		} {
			w := tallyring.Window{Slots: slots, Width: time.Second}
			l, err := newLimiter(w, 10, 2)
			require.NoError(t, err)
			require.Equal(t, 10, passing(l, 20, now), "at %d", now)
			d := l.Take(now, 10)
			require.Equal(t, now, d.At)
			require.Positive(t, min(d.RetryAfter, d.ResetAfter))
			require.LessOrEqual(t, d.RetryAfter, time.Duration(slots)*time.Second)
			require.Equal(t, tallyring.Never, l.Take(now, 11).RetryAfter)
			require.Equal(t, 0, passing(l, 3, now-tallyring.Tick(tallyring.MaxLength)))
			l.Refund(now, 4)
			require.Equal(t, 4, passing(l, 9, now), "at %d", now)

			c, err := NewCounter(w)
			require.NoError(t, err)
			require.True(t, c.Add(now, 7))
			require.Equal(t, uint64(7), c.Read(now).High)
			gone := now - tallyring.Tick(slots)*second
			require.Equal(t, gone < 0, c.Add(max(gone, 0), 1), "at %d, bucket of %d", now, gone)
		}
	}
}

// passing returns how many of n events of cost 1 pass.
func passing(l *Limiter, n int, now tallyring.Tick) (passed int) {
	for range n {
		if l.Allow(now, 1) {
			passed++
		}
	}
	return passed
}
