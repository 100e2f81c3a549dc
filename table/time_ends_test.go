package table

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// endWindows are windows of cells of both shapes, of awkward widths.
func endWindows() (windows []tallyring.Window) {
	for _, slots := range []int{1, 2, 3, 7, 9} {
		for _, width := range []time.Duration{40, 1000, 1 << 14, 999_983, time.Second, time.Hour,
			tallyring.MaxLength / time.Duration(max(slots-1, 1))} {
			windows = append(windows, tallyring.Window{
				Slots: slots, Width: width, Strict: slots == 3 || slots == 7})
		}
	}
	return windows
}

// moments returns ticks at which buckets begin and from which a span of ticks can be driven: an
// early one, the latest that the last tick allows, some around the wrap of the index of a table's
// states and around half of it, and ten years from these.
func (t *Table) moments(span tallyring.Tick) []tallyring.Tick {
	width, bits := uint64(t.window.Width), 63-t.states.shift
	latest := tallyring.Tick(math.MaxInt64) - span
	all := []tallyring.Tick{
		tallyring.Tick(8 * width), latest - latest%tallyring.Tick(width),
	}
	for _, bucket := range []uint64{1 << bits, 1 << (bits - 1), 3 << (bits - 1)} {
		for before := uint64(1); before <= 7; before += 2 {
			if bucket-before > uint64(latest)/width || bucket < 16 {
				continue
			}
			at := tallyring.Tick((bucket - before) * width)
			all = append(all, at)
			if years := uint64(tallyring.MaxLength) / width * width; at+tallyring.Tick(years) <
				latest && at+tallyring.Tick(years) > 0 {
				all = append(all, at+tallyring.Tick(years))
			}
		}
	}
	return all
}

// Goal: no answer depends on where in time a table is, whatever its cells are: not on a wrap of the
// stored index, nor on half the range, nor on the end of time; and neither when keys take each
// other's cells. Method: one random script, played from moments of every kind, must give the same
// answers, but for the ticks in them: for one key, and for more keys than fit.
//
// A key that is inserted late begins at the horizon, with a count of 0. Where the stored index of
// that bucket is 0 the cell's word is 0, which is empty whatever its index. So where keys take each
// other's cells, the ticks of the scripts that pass a wrap are never late.
func TestAnswersDoNotDependOnWhereInTime(t *testing.T) {
	compared, takenOver := 0, uint64(0)
	for _, w := range endWindows() {
		for _, maxLimit := range []uint64{0, 1 << 20} {
			config := Config{Window: w, MaxLimit: maxLimit, Keys: 2, WhenFull: Overflow}
			if _, err := New(config); err != nil {
				continue // no form is that large at this width: the other limit is tried
			}
			for _, p := range []play{{1, true}, {12, false}, {12, true}} {
				n, taken := playEverywhere(t, config, p)
				compared, takenOver = compared+n, takenOver+taken
			}
		}
	}
	require.Greater(t, compared, 1000)
	require.Greater(t, takenOver, uint64(1000))
}

// playEverywhere plays one script from every moment and compares the answers.
func playEverywhere(t *testing.T, config Config, p play) (compared int, takenOver uint64) {
	first, err := New(config)
	require.NoError(t, err)
	span, seed := tallyring.Tick(reach(config.Window)), rand.Uint64()
	var want []answer
	var wantStats Stats
	for _, from := range first.moments(span) {
		table, err := New(config)
		require.NoError(t, err)
		passes := table.index(from) > table.index(from+span)
		if passes && p.late && p.keys > 1 {
			continue
		}
		got := table.playFrom(from, seed, p)
		if want == nil {
			want = got
		}
		same(t, want, got, "%+v from %d, seed %#x", config, from, seed)
		stats := table.Stats(from + span)
		if compared++; compared == 1 {
			wantStats = stats
		}
		require.Equal(t, wantStats, stats, "%+v from %d, seed %#x", config, from, seed)
		takenOver += stats.TakenOver
	}
	return compared, takenOver
}

// play says what a script does: for how many keys it asks, and whether some of its ticks are late.
type play struct {
	keys uint64
	late bool
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

// playFrom plays a script of ticks from its moment to its reach, and returns all answers. No event
// is taken back in whole: a cell whose counts are all 0 is as good as empty, which shows where its
// index is 0 as well.
func (t *Table) playFrom(from tallyring.Tick, seed uint64, p play) (answers []answer) {
	const limit = 40
	random, width, latest := rand.New(rand.NewPCG(seed, 0)), int64(t.window.Width), int64(0)
	for range 150 {
		if random.IntN(3) == 0 {
			latest = min(latest+random.Int64N(width), reach(t.window))
		}
		now := from + tallyring.Tick(latest)
		if p.late && random.IntN(4) == 0 {
			now -= tallyring.Tick(random.Int64N(min(latest, 4*width) + 1))
		}
		key, cost := mixedKey(random.Uint64N(p.keys)), random.Uint64N(5)
		var d tallyring.Decision
		if random.IntN(3) == 0 {
			d.Allowed = t.Allow(key, now, cost, limit)
		} else {
			d = t.Take(key, now, cost, limit)
			if d.Allowed && cost > 2 {
				t.Refund(key, d.At, 1)
			}
			d.At -= from
		}
		answers = append(answers, answer{d, t.Read(key, now)})
	}
	return answers
}

// mixedKey spreads small numbers.
func mixedKey(number uint64) uint64 { return (number + 3) * 0xd1b54a32d192ed03 }

// Goal: states tell distances right up to half their range and not beyond, ten years of buckets
// lie within, and what has expired stays so for ten years. Method: every layout, at the edges.
func TestStatesTellDistancesUpToHalfTheRange(t *testing.T) {
	for _, w := range endWindows() {
		s := newTable(t, w, 1).states
		bits := 63 - s.shift
		half, mask := int64(1)<<(bits-1), uint64(1)<<bits-1
		years := int64(tallyring.MaxLength/w.Width) + 1
		require.Less(t, years, half, "%+v", w)
		for _, index := range []uint64{0, 1, uint64(half), mask} {
			for _, d := range []int64{-half, 1 - half, -1, 0, 1, years, half - 2, half - 1} {
				state := (index-uint64(d))&mask<<s.shift | 1
				require.Equal(t, d, s.behind(state, index), "%+v", w)
				require.Equal(t, d >= s.slots, s.expired(state, index), "%+v", w)
			}
			ahead := (index-uint64(half))&mask<<s.shift | 1
			require.Equal(t, -half, s.behind(ahead, index),
				"%+v: half the range behind looks as far ahead", w)
		}
	}
}

// Goal: the first ticks and the last are ticks like any other, in cells of both shapes, and a key
// that was counted ten years ago has left its cell to another. Method: a limit of 10 asked for 20
// times at each of them.
func TestTheFirstTicksAndTheLast(t *testing.T) {
	const last = tallyring.Tick(math.MaxInt64)
	for _, slots := range []int{1, 2, 3, 7} {
		w := tallyring.Window{Slots: slots, Width: time.Second}
		for _, maxLimit := range []uint64{0, 1 << 20} {
			for _, now := range []tallyring.Tick{
				0, 1, second - 1, second, last - second, last - second + 1, last - 1, last,
			} {
				table, err := New(Config{Window: w, MaxLimit: maxLimit, Keys: 1})
				require.NoError(t, err)
				table.atTheEnd(t, now)
			}
		}
	}
}

// atTheEnd fills a key ten years before now, then every cell with others at now.
func (t *Table) atTheEnd(test *testing.T, now tallyring.Tick) {
	early := now - tallyring.Tick(tallyring.MaxLength)
	if early > 0 {
		require.Equal(test, 10, trap{test, t}.admitted(keyA, early, 1, 10, 20))
		require.Zero(test, t.Read(keyA, now).High, "at %d", now)
	}
	for key := range t.cells() * 2 {
		passed := trap{test, t}.admitted(mixedKey(key), now, 1, 10, 20)
		if d := t.Take(mixedKey(key), now, 10, 10); passed > 0 {
			require.Equal(test, 10, passed, "at %d", now)
			require.Equal(test, now, d.At)
			require.Positive(test, min(d.RetryAfter, d.ResetAfter))
			require.False(test, t.Allow(mixedKey(key), early, 1, 10), "ten years late")
			t.Refund(mixedKey(key), now, 4)
			require.Equal(test, 4, trap{test, t}.admitted(mixedKey(key), now, 1, 10, 9))
		}
	}
	s := t.Stats(now)
	require.Equal(test, s.Cells, s.Live, "at %d every cell serves a key of then", now)
	require.Zero(test, t.Stats(max(now-second, 0)).Expired)
}
