package lab

import (
	"fmt"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
	"github.com/tallyring/tallyring/exphist"
	"github.com/tallyring/tallyring/gcra"
)

// window is one key's window of any kind. One that has no estimate is in the closed loop alone.
type window struct {
	counter     replay.Counter
	hasEstimate bool
}

// LeastEpsilon is the smallest error of an exponential histogram that is measured: at it, one takes
// as much memory as a log of hundreds of requests.
const LeastEpsilon = 0.001

// others returns the kinds that are no rings.
func (p Plan) others() (kinds []Kind) {
	for _, eps := range p.Epsilons {
		kinds = append(kinds, Kind{Scheme: replay.Scheme{Name: "exphist"}, Epsilon: eps})
	}
	return append(kinds, Kind{Scheme: replay.Scheme{Name: "gcra"}})
}

// open returns an empty window, with all times multiplied by scale, that counts up to most.
func (k Kind) open(p Plan, scale int64, most uint64) (window, error) {
	most = max(most, p.Limit)
	switch k.Name {
	case "exphist":
		if !(k.Epsilon >= LeastEpsilon && k.Epsilon <= 1) {
			return window{}, fmt.Errorf("error %v of an exponential histogram, want %v to 1",
				k.Epsilon, LeastEpsilon)
		}
		h, err := exphist.New(p.Window, k.Epsilon, most)
		return window{histogram{h}, true}, err
	case "gcra":
		b, err := gcra.New(p.Limit, p.Window, p.Limit)
		return window{bucket{b}, false}, err
	}
	counter, err := k.Scheme.Counter(p.Window, scale, most)
	return window{counter, true}, err
}

// estimate returns what the window takes its count to be.
func (w window) estimate(now tallyring.Tick) float64 { return w.counter.Read(now).Estimate }

// histogram is an exponential histogram as a counter. It decides by its high reading.
type histogram struct{ *exphist.Histogram }

// Add counts, always.
func (h histogram) Add(now tallyring.Tick, count uint64) bool {
	h.Histogram.Add(now, count)
	return true
}

// bucket is a token bucket as a counter. It holds the limit, and refills with the limit per window;
// what is not yet paid for is no count of any window.
type bucket struct{ *gcra.Bucket }

// Allow leaves the limit aside: the bucket was made for it.
func (b bucket) Allow(now tallyring.Tick, cost, _ uint64) bool { return b.Bucket.Allow(now, cost) }
