package linear

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// fault is one way to build a ring wrongly.
type fault struct {
	name string
	do   func(r *faulty, in input) (out output, done bool)
}

// faulty is a ring that answers from the model under a lock, but for its fault, which gives the
// lock away in the middle of a call or breaks a rule. Without a fault it is sound.
type faulty struct {
	checker
	fault
	lock  sync.Mutex
	state ring
	held  []input // events that were answered and not counted yet
	stale ring    // what the state was a while ago
}

func (r *faulty) do(in input) output {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.fault.do != nil {
		if out, done := r.fault.do(r, in); done {
			return out
		}
	}
	return r.answer(in)
}

// answer is the sound part.
func (r *faulty) answer(in input) (out output) {
	switch in.verb {
	case allowVerb:
		r.state, out.ok = r.allow(r.state, in.tick, in.cost, in.limit)
	case takeVerb:
		r.state, out.decision = r.take(r.state, in.tick, in.cost, in.limit)
	case addVerb:
		r.state, out.ok = r.add(r.state, in.tick, in.cost)
	case refundVerb:
		r.state = r.refund(r.state, in.tick, in.cost)
	default:
		out.reading = r.read(r.state, in.tick)
	}
	return out
}

// elsewhere lets others at the ring in the middle of a call.
func (r *faulty) elsewhere() {
	r.lock.Unlock()
	runtime.Gosched()
	r.lock.Lock()
}

// faults are those that rings were built with, one step of the protocol left out each.
var faults = []fault{
	{"check, then add", func(r *faulty, in input) (out output, done bool) {
		if in.verb != allowVerb || in.cost == 0 {
			return out, false
		}
		if !r.fits(r.view(r.state, in.tick), in.cost, in.limit) {
			return out, true
		}
		r.elsewhere()
		r.answer(input{verb: addVerb, tick: max(in.tick, r.start()), cost: in.cost})
		return output{ok: true}, true
	}},
	{"load, then store", func(r *faulty, in input) (out output, done bool) {
		before := r.state
		r.elsewhere()
		r.state = before
		return out, false
	}},
	{"two turn, and each begins with nothing", func(r *faulty, in input) (out output, done bool) {
		if in.verb > addVerb || r.bucketOf(in.tick) <= r.state.newest {
			return out, false
		}
		empty := r.moved(r.state, r.bucketOf(in.tick))
		r.elsewhere()
		r.state = empty
		return out, false
	}},
	{"answered before it is counted", func(r *faulty, in input) (out output, done bool) {
		held := r.held
		r.held = nil
		if in.verb != addVerb {
			out = r.answer(in)
			done = true
		} else {
			r.held = []input{in}
			out.ok, done = true, true
		}
		for _, in := range held {
			r.answer(in)
		}
		return out, done
	}},
	{"a denial on an old count", func(r *faulty, in input) (out output, done bool) {
		old := r.stale
		r.stale = r.state
		denied := in.verb == allowVerb && !r.fits(r.view(old, in.tick), in.cost, in.limit)
		return out, denied
	}},
	{"a denied event turns", func(r *faulty, in input) (out output, done bool) {
		out = r.answer(in)
		if in.verb == allowVerb && !out.ok && in.limit > 0 {
			r.state = r.moved(r.state, r.bucketOf(in.tick))
		}
		return out, true
	}},
	{"a refund that a turn loses", func(r *faulty, in input) (out output, done bool) {
		lost := in.verb == refundVerb && r.bucketOf(in.tick) < r.state.newest
		return out, lost
	}},
	{"newest moves back", func(r *faulty, in input) (out output, done bool) {
		if in.verb == allowVerb && r.bucketOf(in.tick) < r.state.newest {
			r.state = ring{}
		}
		return out, false
	}},
}

// start is the first tick of the newest bucket.
func (r *faulty) start() tallyring.Tick { return tallyring.Tick(r.state.newest * r.width()) }

// TestCheckerFindsFaults records histories of rings that are built wrongly, with the scripts of the
// others, until one is refused. The same ring without a fault is never refused.
func TestCheckerFindsFaults(t *testing.T) {
	const batch, batches = 40, 200
	window := tallyring.Window{Slots: 2, Width: second}
	for _, turning := range []bool{false, true} {
		for _, fault := range append([]fault{{}}, faults...) {
			a := author{rng: seeded(), window: window, adds: true, reads: true, whole: true,
				limits: []uint64{1, 2, 3, 5, 12}}
			recorded, refused := 0, 0
			for recorded < batch*batches && refused == 0 {
				on := func(script) subject {
					return &faulty{checker: checker{model: model{window}}, fault: fault}
				}
				for _, r := range record(batch, a.script, on) {
					c := checker{model: model{window}, turning: turning, whole: r.whole}
					recorded++
					if c.judge(r.history(), nil) == broken {
						refused++
					}
				}
				if fault.do == nil {
					break
				}
			}
			t.Logf("%q: %d of %d histories refused", fault.name, refused, recorded)
			require.Equal(t, fault.do != nil, refused > 0, fault.name)
		}
	}
}
