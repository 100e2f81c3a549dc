package pertcore

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// byteSource draws a fuzzer's bytes: one each time, repeated over the whole number, so that it
// decides small ranges, odd and even ones. After the last byte a fixed sequence follows.
type byteSource struct {
	data []byte
	rest *rand.PCG
}

func (s *byteSource) Uint64() uint64 {
	if len(s.data) == 0 {
		return s.rest.Uint64()
	}
	b := s.data[0]
	s.data = s.data[1:]
	return uint64(b) * 0x0101010101010101
}

// fuzzWindows are windows of one, two and more slots, narrow and wide, some of them strict.
var fuzzWindows = []tallyring.Window{
	{Slots: 1, Width: time.Second},
	{Slots: 2, Width: time.Minute},
	{Slots: 2, Width: 1000, Strict: true},
	{Slots: 3, Width: 1 << 14},
	{Slots: 7, Width: time.Hour},
	{Slots: 61, Width: time.Second, Strict: true},
}

// fuzzOrigins are first ticks: the first of all, wall time, and 55 years of it.
var fuzzOrigins = []tallyring.Tick{0, 1767225600e9, 5 * 365 * 24 * 3600e9 * 11}

// FuzzLimiter draws the operations of one goroutine, and the shard of each, from the fuzzer's
// bytes, does them on a limiter and on the model, and compares every answer and reading.
func FuzzLimiter(f *testing.F) {
	random := rand.New(rand.NewPCG(51, 52))
	for shape := range 6 {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(uint8(shape), uint8(shape), data)
	}
	f.Fuzz(func(t *testing.T, shape, shards uint8, data []byte) {
		source := &byteSource{data, rand.NewPCG(1, 1)}
		w := fuzzWindows[int(shape)%len(fuzzWindows)]
		origin := fuzzOrigins[int(shape)/len(fuzzWindows)%len(fuzzOrigins)]
		steps := 0
		more := func() bool { steps++; return len(source.data) > 0 && steps <= 200 }
		history(t, w, origin, 1<<(shards%4), rand.New(source), more, &outcomes{}, "fuzzed")
	})
}

// FuzzCounter gives a counter and one ring of the same form the adds that the fuzzer's bytes tell,
// and compares what they read.
func FuzzCounter(f *testing.F) {
	f.Add(uint8(0), []byte("\x00\x00\x01\x00\x02\x01\x05\x00\x01\x03\x90\x02"))
	f.Add(uint8(3), []byte("\x01\x80\x07\x02\x03\x01\x04\xff\xff\x00\x05\x01\x09\x03\x01\x01"))
	f.Fuzz(func(t *testing.T, shape uint8, data []byte) {
		w := fuzzWindows[int(shape)%len(fuzzWindows)]
		c, err := NewCounter(w)
		require.NoError(t, err)
		one, err := atomicring.NewFor(w, c.rings[0].MaxLimit())
		require.NoError(t, err)
		latest := fuzzOrigins[int(shape)/len(fuzzWindows)%len(fuzzOrigins)]
		left := one.MaxLimit()
		for n := 0; len(data) >= 4 && n < 300 && left > 0; n++ {
			width := tallyring.Tick(w.Width)
			argument := tallyring.Tick(data[1])
			steps := []tallyring.Tick{0, argument, argument * width / 64, argument * width,
				width - latest%width, width * tallyring.Tick(w.Slots)}
			step := steps[int(data[0])%len(steps)]
			now := latest + step
			if data[0]&0x80 != 0 {
				now = latest - step
			}
			latest = max(latest, now)
			// No ring saturates: which of them would is up to the scheduler.
			count := min(uint64(data[2])<<(data[3]%17), left)
			left -= count
			data = data[4:]
			require.Equal(t, one.Add(now, count), c.Add(now, count), "%+v: %d at %d", w, count, now)
			for _, at := range []tallyring.Tick{now, latest, latest + width/3} {
				want, got := one.Read(at), c.Read(at)
				require.Equal(t, [2]uint64{want.Low, want.High}, [2]uint64{got.Low, got.High},
					"%+v at %d", w, at)
				require.InEpsilon(t, 1+want.Estimate, 1+got.Estimate, 1e-9, "%+v at %d", w, at)
			}
		}
	})
}
