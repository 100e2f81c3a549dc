package atomicring

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
)

// shapes are the windows that fuzzing chooses from: every form, both kinds, few slots and many.
var shapes = []tallyring.Window{
	{Slots: 1, Width: time.Minute},
	{Slots: 2, Width: time.Minute},
	{Slots: 2, Width: 3 * time.Microsecond, Strict: true},
	{Slots: 2, Width: 1 << 12},
	{Slots: 3, Width: 18},
	{Slots: 3, Width: 1 << 20, Strict: true},
	{Slots: 7, Width: 10 * time.Second},
	{Slots: 8, Width: 999_983, Strict: true},
	{Slots: 61, Width: time.Second},
}

// Operations of a fuzzed history take this many bytes: verb, kind of tick, argument of the tick,
// kind of cost, cost, kind of limit.
const operationBytes = 8

// decode returns the operation that eight bytes stand for, after those before it.
func decode(p *pair, b []byte) operation {
	w := p.model.window
	argument := int64(int16(binary.LittleEndian.Uint16(b[2:])))
	steps := [...]int64{
		argument, argument * int64(w.Width) / 256, argument * int64(w.Width),
		int64(w.Width) - int64(p.latest)%int64(w.Width) + argument%2,
		int64(w.Length()) + argument%2, int64(w.Slots)*int64(w.Width) + argument%2,
		int64(tallyring.MaxLength) / (1 + argument*argument), -int64(p.latest) + argument%2,
	}
	step := steps[int(b[1])%len(steps)]
	step = min(max(step, -int64(p.latest)-1), int64(p.last-p.latest))
	if int64(p.latest) > int64(tallyring.MaxLength) {
		step = max(step, -int64(tallyring.MaxLength))
	}
	most, cost := p.ring.MaxLimit(), uint64(binary.LittleEndian.Uint16(b[5:]))
	limits := [...]uint64{100, 1, 0, 65_536, most - 1, most, most + 1, tallyring.Unlimited}
	limit := limits[int(b[7])%len(limits)]
	costs := [...]uint64{
		1, 0, cost % 8, cost, limit, limit + 1, most - cost, math.MaxUint64 - cost,
	}
	return operation{
		verb: verb(b[0] % byte(verbs)), now: p.latest + tallyring.Tick(step),
		cost: costs[int(b[4])%len(costs)], limit: limit,
	}
}

// FuzzRing runs any list of operations on a ring of any form and on the model, and compares every
// answer and the state after each.
func FuzzRing(f *testing.F) {
	const (
		here, inBucket, buckets, turn, length, whole, far, absolute = 0, 1, 2, 3, 4, 5, 6, 7
	)
	f.Add(uint8(1), uint8(0), int64(0), []byte{
		1, here, 0, 0, 3, 84, 0, 0,
		0, turn, 0, 0, 3, 30, 0, 0,
		2, inBucket, 64, 0, 3, 7, 0, 0,
		2, here, 0, 0, 0, 0, 0, 0,
	})
	f.Add(uint8(6), uint8(1), int64(1767225600e9), []byte{
		1, here, 0, 0, 4, 0, 0, 0,
		1, turn, 0, 0, 0, 0, 0, 0,
		0, buckets, 0xff, 0xff, 3, 9, 0, 0,
		3, buckets, 0xff, 0xff, 3, 4, 0, 0,
		2, length, 1, 0, 4, 0, 0, 0,
		2, whole, 1, 0, 5, 0, 0, 0,
	})
	f.Add(uint8(5), uint8(1), int64(1), []byte{
		0, here, 0, 0, 7, 0, 0, 7,
		2, turn, 1, 0, 0, 0, 0, 7,
		3, here, 0, 0, 7, 0, 0, 0,
		2, far, 0, 0, 6, 0, 0, 6,
		2, absolute, 0xff, 0xff, 2, 3, 0, 5,
	})
	f.Add(uint8(4), uint8(3), int64(math.MaxInt64-40), []byte{
		1, inBucket, 0, 1, 2, 7, 0, 0,
		2, buckets, 1, 0, 4, 0, 0, 0,
		2, length, 0, 0, 4, 0, 0, 0,
	})
	f.Fuzz(func(t *testing.T, shape, kind uint8, from int64, operations []byte) {
		w := shapes[int(shape)%len(shapes)]
		r := forms[int(kind)%len(forms)].build(w)
		if r == nil {
			r = forms[1].build(w)
		}
		p := newPair(t, r, w, "of the fuzzer")
		p.latest = max(tallyring.Tick(from), 0)
		p.last = lastTick(p.latest, w)
		for n := 0; len(operations) >= operationBytes && n < 200; n++ {
			o := decode(p, operations)
			operations = operations[operationBytes:]
			p.do(o)
			p.compare(o.now, o.limit)
			if next := p.latest + tallyring.Tick(w.Width); next > 0 && next <= p.last {
				p.compare(next, o.limit)
			}
		}
	})
}
