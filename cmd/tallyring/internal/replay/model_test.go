package replay

import (
	"math/big"
	"time"

	"github.com/tallyring/tallyring"
)

// model is a plain and slow engine of any scheme, in big integers: it keeps every admitted tick of
// every key for ever and counts them all at each decision. Ticks are multiplied by the number of
// buckets, so that a bucket of any fraction of the window begins at a whole number.
type model struct {
	plan     Plan
	scheme   Scheme
	line     Timeline
	admitted map[uint32][]tallyring.Tick
}

func newModel(_ batch, plan Plan, s Scheme, line Timeline, _ tallyring.Tick) (engine, error) {
	return &model{plan, s, line, make(map[uint32][]tallyring.Tick)}, nil
}

func (m *model) allow(key uint32, tick tallyring.Tick) bool {
	tick = tick/tallyring.Tick(m.line.scale) + m.line.origin // back to the log's own time
	ok := m.estimateFits(key, tick)
	if ok {
		m.admitted[key] = append(m.admitted[key], tick)
	}
	return ok
}

// estimateFits tells whether one more event stays within the limit: the sum of the weights of the
// admitted events, each the part of the window's width that its bucket has left, plus one.
func (m *model) estimateFits(key uint32, now tallyring.Tick) bool {
	if m.scheme.Name == "log" {
		inside := uint64(0)
		for _, tick := range m.admitted[key] {
			if tick > now-tallyring.Tick(m.plan.Window) {
				inside++
			}
		}
		return inside < m.plan.Limit
	}
	parts := int64(max(m.scheme.Resolution, 1))
	width := big.NewInt(int64(m.plan.Window)) // of a bucket, in parts of a nanosecond
	bucket, elapsed := bucketOf(now, parts, m.plan.Window)
	sum := new(big.Int).Set(width)
	for _, tick := range m.admitted[key] {
		b, _ := bucketOf(tick, parts, m.plan.Window)
		age := new(big.Int).Sub(bucket, b).Int64()
		switch {
		case m.scheme.Name == "fixed" && age > 0, age > parts:
		case age < parts || m.scheme.Name == "strict":
			sum.Add(sum, width)
		default:
			sum.Add(sum, new(big.Int).Sub(width, elapsed))
		}
	}
	most := new(big.Int).Mul(new(big.Int).SetUint64(m.plan.Limit), width)
	return sum.Cmp(most) <= 0
}

func bucketOf(tick tallyring.Tick, parts int64, window time.Duration) (bucket, elapsed *big.Int) {
	scaled := new(big.Int).Mul(big.NewInt(int64(tick)), big.NewInt(parts))
	return new(big.Int).DivMod(scaled, big.NewInt(int64(window)), new(big.Int))
}

// slowPeak is peak by its definition: for each request, how many others fall into the interval that
// ends there.
func slowPeak(ticks []tallyring.Tick, window time.Duration) int {
	most := 0
	for _, end := range ticks {
		inside := 0
		for _, tick := range ticks {
			if tick > end-tallyring.Tick(window) && tick <= end {
				inside++
			}
		}
		most = max(most, inside)
	}
	return most
}
