package atomicring

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// indexBitsOf returns how many bits of a bucket index a ring keeps.
func indexBitsOf(r *Ring) uint {
	if r.word != nil {
		return 64 - uint(r.packed.far)
	}
	return 64 - uint(r.tagged.far)
}

// moments returns ticks at which buckets begin and from which a span of ticks can be driven: early
// ones; where the stored index of a ring of that many bits is about to wrap, and wraps half way;
// ten years from there; and as late as the last tick allows. All are the same to a clock.
func moments(width time.Duration, bits uint, span tallyring.Tick) []tallyring.Tick {
	late := math.MaxInt64 - span
	first := 8 * tallyring.Tick(width)
	if first > late {
		return nil
	}
	all := []tallyring.Tick{first, late - late%tallyring.Tick(width)}
	for _, bucket := range []uint64{1 << bits, 1 << (bits - 1), 3 << (bits - 1)} {
		for _, before := range []uint64{1, 2, 3} {
			if bucket-before <= uint64(late)/uint64(width) && bucket > before+8 {
				at := tallyring.Tick((bucket - before) * uint64(width))
				all = append(all, at)
				if at <= late-tallyring.Tick(tallyring.MaxLength) {
					years := tallyring.Tick(tallyring.MaxLength)
					all = append(all, at+years-years%tallyring.Tick(width))
				}
			}
		}
	}
	return all
}

// endWidths are widths of all kinds: the narrowest, powers of two and not, and the widest.
func endWidths(slots int) []time.Duration {
	return []time.Duration{18, 1000, 1 << 14, 999_983, time.Second, 1 << 33, time.Hour,
		tallyring.MaxLength / time.Duration(max(slots-1, 1))}
}

// Goal: no answer depends on where in time a ring is: not on a wrap of its index, nor on half the
// range, nor on the end of time. Method: one random script, played from moments of every kind, must
// give the same answers, but for the ticks in them, which differ by as much as the moments do.
func TestAnswersDoNotDependOnWhereInTime(t *testing.T) {
	compared := 0
	for _, f := range forms {
		for _, slots := range []int{1, 2, 3, 7, 9} {
			for _, width := range endWidths(slots) {
				w := tallyring.Window{Slots: slots, Width: width, Strict: slots%2 == 1 && slots > 1}
				r := f.build(w)
				if r == nil || !f.tagged && slots > 2 {
					continue
				}
				span := tallyring.Tick(reach(w))
				seed := rand.Uint64()
				var want []answer
				for i, from := range moments(width, indexBitsOf(r), span) {
					got := playFrom(f.build(w), w, from, seed)
					if i == 0 {
						want = got
						continue
					}
					same(t, want, got, "%s %+v from %d, seed %#x", f.name, w, from, seed)
					compared++
				}
			}
		}
	}
	require.Greater(t, compared, 500)
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

// playFrom plays a script of ticks from its moment to its reach, some of them late, and returns all
// answers. Nothing is taken back in whole, since a word whose counts are all 0 is
// empty, which shows where the index is 0 as well.
func playFrom(r *Ring, w tallyring.Window, from tallyring.Tick, seed uint64) (answers []answer) {
	random := rand.New(rand.NewPCG(seed, 0))
	width, limit := int64(w.Width), uint64(40)
	latest := int64(0)
	for range 120 {
		if random.IntN(3) == 0 {
			latest = min(latest+random.Int64N(width), reach(w))
		}
		now := from + tallyring.Tick(latest)
		if random.IntN(4) == 0 {
			now -= tallyring.Tick(random.Int64N(min(latest, 4*width) + 1))
		}
		cost := random.Uint64N(5)
		var d tallyring.Decision
		switch random.IntN(4) {
		case 0:
			d.Allowed = r.Add(now, cost)
		case 1:
			d.Allowed = r.Allow(now, cost, limit)
		default:
			d = r.Take(now, cost, limit)
			if d.Allowed && cost > 2 {
				r.Refund(d.At, 1)
			}
			d.At -= from
		}
		answers = append(answers, answer{d, r.Read(now)})
	}
	return answers
}

// Goal: distances are right up to half the range of the stored index and not beyond, and ten years
// of buckets lie within. Method: every layout of awkward widths, at the edges of its range.
func TestDistancesAreRightUpToHalfTheRange(t *testing.T) {
	for _, width := range awkwardWidths() {
		for name, l := range layoutsOf(t, 2, width) {
			bits := 64 - uint(l.far)
			half, mask := int64(1)<<(bits-1), uint64(1)<<bits-1
			years := int64(uint64(tallyring.MaxLength)/l.width) + 1
			require.Less(t, years, half, "%s, width %d", name, width)
			for _, index := range []uint64{0, 1, uint64(half), mask, mask + 1, 5*mask + 3} {
				for _, d := range []int64{-half, 1 - half, -1, 0, 1, years, half - 2, half - 1} {
					if got := l.distance(index, (index-uint64(d))&mask); got != d {
						t.Fatalf("%s, width %d: %d buckets look like %d", name, width, d, got)
					}
				}
				if got := l.distance(index, (index-uint64(half))&mask); got != -half {
					t.Fatalf("%s, width %d: half the range ahead looks like %d, want as far "+
						"behind", name, width, got)
				}
			}
		}
	}
}

// Goal: the first ticks and the last are ticks like any other. Method: a limit of 10 asked for 20
// times at each of them, and what follows from it; late ticks are up to ten years late.
func TestTheFirstTicksAndTheLast(t *testing.T) {
	const last = tallyring.Tick(math.MaxInt64)
	for _, slots := range []int{1, 2, 3, 7} {
		for _, width := range []time.Duration{1 << 16, time.Second, time.Hour} {
			eachRing(t, slots, width, func(t *testing.T, fresh func() *Ring) {
				for _, now := range []tallyring.Tick{
					0, 1, tallyring.Tick(width) - 1, tallyring.Tick(width),
					last - tallyring.Tick(width), last - tallyring.Tick(width) + 1, last - 1, last,
				} {
					r := fresh()
					require.Equal(t, 10, passing(r, 20, now, 10), "at %d", now)
					full := r.Take(now, 10, 10)
					require.LessOrEqual(t, full.RetryAfter, time.Duration(slots)*width)
					if later := now + tallyring.Tick(full.RetryAfter); later > now {
						require.False(t, r.Allow(later-1, 10, 10), "at %d", later-1)
						require.Equal(t, uint64(10), r.Take(later, 0, 10).Remaining)
					}
					atTheEnd(t, r, full, now)
				}
			})
		}
	}
}

// atTheEnd checks a ring that is full since now.
func atTheEnd(t *testing.T, r *Ring, full tallyring.Decision, now tallyring.Tick) {
	require.Equal(t, uint64(10), r.Read(now).High)
	require.False(t, full.Allowed)
	require.Equal(t, now, full.At)
	require.Positive(t, full.RetryAfter)
	require.Positive(t, full.ResetAfter)
	require.Equal(t, tallyring.Never, r.Take(now, 11, 10).RetryAfter)
	for _, late := range []tallyring.Tick{now - 1, now - tallyring.Tick(tallyring.MaxLength)} {
		require.Equal(t, 0, passing(r, 3, late, 10), "at %d, late for %d", late, now)
	}
	r.Refund(now, 3)
	require.Equal(t, 3, passing(r, 9, now, 10), "at %d", now)
	require.True(t, r.Add(now, 5))
	require.Equal(t, uint64(15), r.Read(now).High)
}
