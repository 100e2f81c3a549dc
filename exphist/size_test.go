package exphist

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

// paperBits is the bound of Theorem 1 of the paper: k/2 is rounded up, as the paper has it where k
// is odd, most stands for the paper's N where it counts ones, and span where it numbers them.
func paperBits(eps float64, most uint64, span int64) float64 {
	k, n := math.Ceil(1/eps), float64(most)
	buckets := (math.Ceil(k/2) + 1) * (math.Log2(2*n/k+1) + 1)
	return buckets * (math.Log2(float64(span)) + math.Log2(math.Log2(n)))
}

// Goal: the bits of the state, every word of it, are within twice the paper's bound, for windows of
// 1,000 events or more.
// Method: windows from 1,000 to 10^12 events, and lengths from 1 ms to the longest; the bytes that
// each takes are printed beside them.
func TestBitsAreWithinTwiceThePapersBound(t *testing.T) {
	t.Log("eps   window              most  bits    bytes   paper bits  ratio")
	for _, eps := range []float64{1, 0.5, 0.3, 0.1, 0.05, 0.01, 0.003} {
		for _, most := range []uint64{1000, 10_000, 1_000_000, 1_000_000_000, 1e12} {
			e, err := NewEvents(most, eps, most)
			require.NoError(t, err)
			bound := paperBits(eps, most, int64(most))
			t.Logf("%-5v %-18s  %.0e %6d %8d %8.0f      %.2f", eps, "as many events",
				float64(most), e.Bits(), e.Bytes(), bound, float64(e.Bits())/bound)
			assert.Less(t, float64(e.Bits()), 2*bound, "eps %v, events %d", eps, most)
			for _, length := range []time.Duration{
				time.Millisecond, time.Second, time.Minute, tallyring.MaxLength,
			} {
				h := mustNew(t, length, eps, most)
				bound := paperBits(eps, most, int64(length))
				assert.Less(t, float64(h.Bits()), 2*bound, "eps %v, %v, %d", eps, length, most)
				if length == time.Minute {
					t.Logf("%-5v %-18s  %.0e %6d %8d %8.0f      %.2f", eps, "a minute",
						float64(most), h.Bits(), h.Bytes(), bound, float64(h.Bits())/bound)
				}
			}
		}
	}
}

// Goal: Bits and Bytes tell the memory that there is.
// Method: the sizes that they add up, against the compiler's on 64-bit machines, as the allocator
// rounds them, and against the rows.
func TestSizesAreAsStated(t *testing.T) {
	h := mustNew(t, time.Minute, 0.1, 1_000_000)
	assert.Equal(t, 36, int(h.endBits()))
	rows := 8 * (len(h.ends.words) + len(h.rings.words))
	assert.Equal(t, histogramBytes+rows, h.Bytes())
	assert.Equal(t, h.slots*h.levels*36+h.levels*2*3+192, h.Bits())
	e, err := NewEvents(1_000_000, 0.1, 1_000_000)
	require.NoError(t, err)
	rows = 8 * (len(e.ends.words) + len(e.rings.words))
	assert.Equal(t, eventsBytes+rows, e.Bytes())
	assert.Equal(t, e.slots*e.levels*20+e.levels*2*3+256, e.Bits())
	if reflect.TypeFor[uintptr]().Size() == 8 {
		for _, size := range []struct {
			stated int
			of     reflect.Type
		}{
			{histogramBytes, reflect.TypeFor[Histogram]()},
			{eventsBytes, reflect.TypeFor[Events]()},
		} {
			assert.LessOrEqual(t, int(size.of.Size()), size.stated)
			assert.Greater(t, int(size.of.Size()), size.stated-16, "the next smaller would do")
		}
	}
}

// Goal: a shape holds every true count up to most, however much of its oldest bucket has left, and
// no sum in it overflows.
// Method: mosts around powers of two and the largest, eps from 1 to where a level is exact; the
// least that must not fit is what a bucket one level up would need.
func TestShapesHoldTheirMost(t *testing.T) {
	mosts := []uint64{1, 2, 3, MaxCount - 1, MaxCount}
	for power := 2; power < 62; power++ {
		mosts = append(mosts, 1<<power-1, 1<<power, 1<<power+1)
	}
	for _, eps := range []float64{1, 0.7, 0.5, 0.26, 0.1, 0.01, 1e-4} {
		for _, most := range mosts {
			s, err := newShape(1, eps, most, nil)
			require.NoError(t, err)
			oldest := uint64(1) << (s.levels - 1)
			require.GreaterOrEqual(t, s.holds, most)
			require.GreaterOrEqual(t, s.holds-most, oldest-1)
			require.Equal(t, uint64(s.slots), s.holds/(2*oldest-1), "holds did not overflow")
			require.Less(t, s.holds, uint64(math.MaxUint64))
			h := s.slots - 1
			require.True(t, s.levels == 1 && uint64(s.slots) >= most || 2*eps*float64(h) >= 1)
			if s.levels > 1 {
				half := oldest / 2
				require.Less(t, uint64(s.slots)*(oldest-1)-(half-1), most, "one level less")
			}
		}
	}
}

// Goal: a row of fields is a row of numbers.
// Method: every width; random numbers set in random order, one and several alike, compared with a
// slice after each.
func TestFieldsAreNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for width := uint(1); width < 64; width++ {
		const count = 40
		words := make([]uint64, wordsFor(count, width)+1)
		f, rest := newFields(words, count, width)
		require.Len(t, rest, 1)
		want := make([]uint64, count)
		for range 200 {
			i, number := random.IntN(count), random.Uint64()
			if n := random.IntN(count + 1 - i); n%2 == 0 {
				f.fill(i, n, number)
				for j := range n {
					want[i+j] = number & (1<<width - 1)
				}
			} else {
				f.set(i, number)
				want[i] = number & (1<<width - 1)
			}
			for j := range want {
				require.Equal(t, want[j], f.at(j), "width %d", width)
			}
		}
		require.Zero(t, rest[0])
	}
}
