package limiter_test

import (
	"math/rand/v2"
	"testing"
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

// FuzzVerbs plays the operations that a fuzzer's bytes draw, over every verb, form of key and kind
// of window, and compares every answer with the model that remembers each event.
func FuzzVerbs(f *testing.F) {
	random := rand.New(rand.NewPCG(61, 62))
	for which := range kinds {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(uint8(which), uint64(which), data)
	}
	f.Fuzz(func(t *testing.T, which uint8, seed uint64, data []byte) {
		s := newScript(t, kinds[int(which)%len(kinds)], seed)
		source := &byteSource{data, rand.NewPCG(1, 1)}
		s.rng = rand.New(source)
		for n := 0; len(source.data) > 0 && n < 300; n++ {
			s.run(1)
		}
		if refused := s.l.StatsAt(s.latest).Refused; refused != 0 {
			t.Errorf("%d events of 5 keys were refused in a table for 64", refused)
		}
	})
}
