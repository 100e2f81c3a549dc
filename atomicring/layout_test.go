package atomicring

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// layout is what the two forms have in common for these tests.
type layout struct {
	buckets
	indexShift uint
}

// layoutsOf returns the layouts that hold a window of this width, by name.
func layoutsOf(t *testing.T, slots int, width time.Duration) map[string]layout {
	t.Helper()
	layouts := map[string]layout{}
	w := tallyring.Window{Slots: slots, Width: width}
	for _, f := range forms {
		if !f.tagged && slots > 2 {
			continue
		}
		r := f.build(w)
		switch {
		case r == nil:
		case f.tagged:
			layouts[f.name] = layout{r.tagged.buckets, r.tagged.IndexShift()}
		default:
			layouts[f.name] = layout{r.packed.buckets, r.packed.IndexShift()}
		}
	}
	return layouts
}

// awkwardWidths returns widths of which one less or more in ten years changes the bits of an
// index, and any others from 18 ns to ten years.
func awkwardWidths() (widths []time.Duration) {
	for shift := range 60 {
		for off := time.Duration(-1); off <= 1; off++ {
			width := tallyring.MaxLength>>shift + off
			if width >= 18 && width <= tallyring.MaxLength {
				widths = append(widths, width)
			}
		}
	}
	for range rounds(2000) {
		most := int64(tallyring.MaxLength) >> rand.IntN(54)
		widths = append(widths, 18+time.Duration(rand.Int64N(most-17)))
	}
	return append(widths, 4816*time.Second, time.Minute, tallyring.MaxLength)
}

// TestTenYearsAreToldApart takes layouts of awkward widths and checks for ticks ten years apart,
// at the phases of a bucket where they are the most buckets apart, that each sees the other on
// the right side and at the right distance; that the bits of a word are all used and none twice;
// and that a count has 8 bits or more.
func TestTenYearsAreToldApart(t *testing.T) {
	for _, width := range awkwardWidths() {
		for _, slots := range []int{1, 2, 3} {
			if slots > 2 && width > tallyring.MaxLength/2 {
				continue
			}
			layouts := layoutsOf(t, slots, width)
			require.Contains(t, layouts, "tagged", "width %d", width)
			for name, l := range layouts {
				checkLayout(t, fmt.Sprintf("%s, slots %d, width %d", name, slots, width), l)
			}
		}
	}
}

func checkLayout(t *testing.T, name string, l layout) {
	t.Helper()
	countBits := big.NewInt(int64(l.maxCount)).BitLen()
	require.Equal(t, uint64(1)<<countBits-1, l.maxCount, name)
	require.GreaterOrEqual(t, countBits, 8, name)
	require.Equal(t, l.maxCount-1, l.maxLimit(), name)
	mark := uint(strings.Count(name, "marked") + strings.Count(name, "twice"))
	require.Equal(t, 64-mark-l.indexShift, uint(64-l.far), name)
	year10 := uint64(tallyring.MaxLength)
	for _, phase := range []uint64{0, l.width - 1, l.width - year10%l.width, l.width / 2} {
		first, last := phase/l.width, (phase+year10)/l.width
		bits := uint64(1)<<(64-l.far) - 1
		ahead := l.distance(last, first&bits)
		if ahead != int64(last-first) {
			t.Fatalf("%s: ten years from nanosecond %d are %d buckets, seen as %d",
				name, phase, last-first, ahead)
		}
		require.Equal(t, -ahead, l.distance(first, last&bits), name)
	}
}

// TestEveryFormSurvivesTenYears counts in rings of awkward widths and reads ten years later,
// where the index has changed the most. Nothing may be left of a count, and it must not seem to
// be of the future; nor may a ten-year-late event be taken for a new one.
func TestEveryFormSurvivesTenYears(t *testing.T) {
	for _, width := range awkwardWidths() {
		for _, f := range forms {
			w := tallyring.Window{Slots: 2, Width: width}
			r := f.build(w)
			if r == nil {
				continue
			}
			first := tallyring.Tick(width) - 1
			later := first + tallyring.Tick(tallyring.MaxLength)
			require.True(t, r.Allow(first, 1, 10))
			gone := first/tallyring.Tick(width)+2 <= later/tallyring.Tick(width)
			require.Equal(t, gone, r.Read(later).High == 0, "%s, width %d", f.name, width)
			d := r.Take(later, 10, 10)
			require.Equal(t, gone, d.Allowed, "%s, width %d", f.name, width)
			require.Equal(t, later, d.At, "%s, width %d", f.name, width)
			require.Equal(t, !gone, r.Add(first, 1), "%s, width %d", f.name, width)
		}
	}
}

// TestNarrowestWidth checks that the width which an error asks for is right: it works, and one
// nanosecond less does not.
func TestNarrowestWidth(t *testing.T) {
	for _, f := range forms {
		for _, slots := range []int{1, 2, 3, 61} {
			if !f.tagged && slots > 2 {
				continue
			}
			for _, width := range []time.Duration{1, 2, 3, 5, 7} {
				least := leastWidth(t, newOf(f, tallyring.Window{Slots: slots, Width: width}))
				require.NoError(t, newOf(f, tallyring.Window{Slots: slots, Width: least}))
				again := leastWidth(t, newOf(f, tallyring.Window{Slots: slots, Width: least - 1}))
				require.Equal(t, least, again)
			}
		}
	}
	for _, slots := range []int{1, 2, 3, 65} {
		_, err := New(tallyring.Window{Slots: slots, Width: 1})
		least := leastWidth(t, err)
		_, err = New(tallyring.Window{Slots: slots, Width: least - 1})
		require.Equal(t, least, leastWidth(t, err))
		_, err = New(tallyring.Window{Slots: slots, Width: least})
		require.NoError(t, err)
	}
}

func newOf(f form, w tallyring.Window) error {
	if f.tagged {
		_, err := NewTagged(w, f.markBits)
		return err
	}
	_, err := NewPacked(w, f.markBits)
	return err
}

// leastWidth reads the width that an error asks for.
func leastWidth(t *testing.T, err error) time.Duration {
	t.Helper()
	require.Error(t, err)
	require.NotContains(t, err.Error(), "\n")
	require.Regexp(t, `^atomicring: window width \S+ leaves fewer than 8 bits .* want a width of `,
		err.Error())
	words := strings.Fields(err.Error())
	least, errParse := time.ParseDuration(words[len(words)-3])
	require.NoError(t, errParse, err.Error())
	return least
}

// TestLimitThatIsHeld checks that NewFor gives what it was asked for: the limit passes whole and
// not one more, the largest one that it says it can hold is accepted, and that one and one is
// refused by an error which names it.
func TestLimitThatIsHeld(t *testing.T) {
	widths := []time.Duration{100, 4 * time.Microsecond, time.Millisecond, time.Minute, time.Hour}
	for _, slots := range []int{1, 2, 3, 61} {
		for _, width := range widths {
			w := tallyring.Window{Slots: slots, Width: width}
			var most uint64
			_, err := NewFor(w, tallyring.Unlimited-1)
			require.Error(t, err)
			_, errScan := fmt.Sscanf(err.Error(),
				"atomicring: limit 18446744073709551614 is above %d, the most", &most)
			require.NoError(t, errScan, err.Error())
			require.Contains(t, err.Error(), "want a lower limit")
			_, err = NewFor(w, most+1)
			require.Error(t, err, "%+v holds more than the %d of its error", w, most)
			for _, limit := range []uint64{0, 1, 254, most / 2, most} {
				r, err := NewFor(w, limit)
				require.NoError(t, err, "%+v, limit %d", w, limit)
				require.GreaterOrEqual(t, r.MaxLimit(), limit)
				d := r.Take(1, limit, limit)
				require.Equal(t, limit > 0, d.Allowed, "%+v, limit %d", w, limit)
				require.Equal(t, limit, d.Limit)
				require.False(t, r.Allow(1, 1, limit))
			}
		}
	}
}

// TestUnlimitedAsksForNoRoom checks that a ring for no limit is the ring of New.
func TestUnlimitedAsksForNoRoom(t *testing.T) {
	for _, w := range shapes {
		some, err := New(w)
		require.NoError(t, err)
		other, err := NewFor(w, tallyring.Unlimited)
		require.NoError(t, err)
		require.Equal(t, some.MaxLimit(), other.MaxLimit())
	}
}

// TestWrongWindows checks that windows which mean nothing are refused by one line.
func TestWrongWindows(t *testing.T) {
	for _, w := range []tallyring.Window{
		{}, {Slots: -1, Width: 1e9}, {Slots: 2}, {Slots: 2, Width: -1},
		{Slots: 1, Width: 1e9, Strict: true},
		{Slots: tallyring.MaxSlots + 1, Width: 1e9}, {Slots: 3, Width: tallyring.MaxLength},
	} {
		for _, build := range []func() error{
			func() error { _, err := New(w); return err },
			func() error { _, err := NewFor(w, 10); return err },
			func() error { _, err := NewPacked(w, 0); return err },
			func() error { _, err := NewTagged(w, 0); return err },
		} {
			err := build()
			require.EqualError(t, err, w.Validate().Error())
			require.NotContains(t, err.Error(), "\n")
		}
	}
	_, err := NewPacked(tallyring.Window{Slots: 3, Width: time.Second}, 0)
	require.EqualError(t, err, "atomicring: window has 3 slots, want 1 or 2 for the packed form")
}

// TestMemory checks that what Bytes says is what the shape needs: the ring's own lines, with two
// sums where it is tagged, and one more to keep a neighbour away.
func TestMemory(t *testing.T) {
	pad := tallyring.PadBytes - tallyring.LineBytes
	for slots, lines := range map[int]int{
		1: 1, 2: 1, 6: 1, 7: 2, 14: 2, 15: 3, 61: 8, 62: 8, 63: 9,
	} {
		r, err := New(tallyring.Window{Slots: slots, Width: time.Second})
		require.NoError(t, err)
		require.Equal(t, lines*tallyring.LineBytes+pad, r.Bytes(), "slots %d", slots)
	}
}

// TestMarkedWordDecidesNothing checks that a packed word which carries its owner's mark never
// looks like a plain one, and that no transition sets or clears the mark's bit.
func TestMarkedWordDecidesNothing(t *testing.T) {
	const mark = 1 << 63
	for range rounds(5000) {
		width := 5000 + time.Duration(rand.Int64N(1<<40))
		w := tallyring.Window{Slots: 1 + rand.IntN(2), Width: width}
		p, err := NewPacked(w, 1)
		require.NoError(t, err)
		now := tallyring.Tick(rand.Int64())
		word := p.Index(now)<<p.IndexShift() | rand.Uint64N(1<<p.IndexShift())
		require.Less(t, word, uint64(mark))
		require.False(t, p.Newest(p.Counts(word|mark, now)), "%+v %x", w, word)
		require.Less(t, p.Counts(word, now), p.newer)
		later := now/2 + tallyring.Tick(rand.Int64N(1<<62))
		next, _ := p.Next(word, later, rand.Uint64N(9), tallyring.Unlimited)
		require.Less(t, next, uint64(mark))
		next, _ = p.Add(word, later, rand.Uint64())
		require.Less(t, next, uint64(mark))
		require.Less(t, p.Refund(word, later, 3), uint64(mark))
	}
}
