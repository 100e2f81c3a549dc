package gcra

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
)

// Operations of a fuzzed history take this many bytes: verb, kind of tick, argument of the tick,
// kind of cost, cost, kind of burst.
const operationBytes = 8

// decode returns the operation that eight bytes stand for, after those before it.
func decode(p *pair, b []byte) operation {
	argument := int64(int16(binary.LittleEndian.Uint16(b[2:])))
	span := int64(p.rate.Span())
	interval := int64(p.rate.wait(0, p.rate.perEvent))
	_, d := p.rate.Take(p.word, p.latest, 0, tallyring.Unlimited)
	steps := [...]int64{
		argument,
		argument * min(interval, math.MaxInt64>>16) / 16,
		argument % 8 * (span / 2),
		span - int64(p.latest)%span + argument%2,
		int64(d.ResetAfter) + argument%2,
		int64(tallyring.MaxLength) / (1 + argument*argument),
		-int64(p.latest) + argument%2,
	}
	most, cost := p.rate.maxBurst, uint64(binary.LittleEndian.Uint16(b[5:]))
	bursts := [...]uint64{most, 1, 10, 0, most - 1, most/2 + 1, most + 1, tallyring.Unlimited}
	burst := bursts[int(b[7])%len(bursts)]
	costs := [...]uint64{
		1, 0, cost % 8, cost, burst, burst + 1, most - cost, math.MaxUint64 - cost,
	}
	return operation{
		verb: verb(b[0] % byte(verbs)), now: p.after(steps[int(b[1])%len(steps)]),
		cost: costs[int(b[4])%len(costs)], burst: burst,
	}
}

// FuzzRate runs any list of operations on a word of any rate and on the model, and compares every
// answer and the state after each. What NewRate refuses is one of the shapes instead.
func FuzzRate(f *testing.F) {
	const here, intervals, spans, turn, paid, far, absolute = 0, 1, 2, 3, 4, 5, 6
	f.Add(uint64(1), int64(time.Second), uint64(2), int64(0), []byte{
		0, here, 0, 0, 0, 0, 0, 2,
		1, intervals, 32, 0, 0, 0, 0, 2,
		1, here, 0, 0, 0, 0, 0, 2,
	})
	f.Add(uint64(17), int64(time.Second), uint64(400), int64(1767225600e9), []byte{
		2, here, 0, 0, 4, 0, 0, 0,
		1, turn, 0, 0, 0, 0, 0, 0,
		3, spans, 0xff, 0xff, 3, 9, 0, 0,
		1, paid, 1, 0, 4, 0, 0, 0,
		3, paid, 0xff, 0xff, 7, 0, 0, 0,
	})
	f.Add(uint64(7), int64(1), uint64(mostBurst), int64(math.MaxInt64-40), []byte{
		2, here, 0, 0, 7, 0, 0, 7,
		1, spans, 0xfe, 0xff, 5, 0, 0, 6,
		1, far, 0, 0, 0, 0, 0, 4,
	})
	f.Add(uint64(1), int64(tallyring.MaxLength), uint64(1), int64(5), []byte{
		0, here, 0, 0, 0, 0, 0, 0,
		1, far, 0, 0, 0, 0, 0, 0,
		1, absolute, 1, 0, 0, 0, 0, 7,
	})
	f.Fuzz(func(t *testing.T, events uint64, per int64, burst uint64, from int64, list []byte) {
		s := shape{events, time.Duration(per), burst}
		if check(s.events, s.per, s.burst) != nil {
			s = shapes[events%uint64(len(shapes))]
		}
		p := newPair(t, s, "of the fuzzer")
		p.latest = max(tallyring.Tick(from), 0)
		p.first = max(p.latest-tallyring.Tick(tallyring.MaxLength)/2, -1)
		for n := 0; len(list) >= operationBytes && n < 100; n++ {
			o := decode(p, list)
			list = list[operationBytes:]
			p.do(o)
			p.compare(p.after(int64(p.rate.Span())))
		}
	})
}
