package linear

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/pertcore"
	"github.com/tallyring/tallyring/table"
)

// onRing drives a ring.
type onRing struct{ *atomicring.Ring }

func (r onRing) do(in input) (out output) {
	switch in.verb {
	case allowVerb:
		out.ok = r.Allow(in.tick, in.cost, in.limit)
	case takeVerb:
		out.decision = r.Take(in.tick, in.cost, in.limit)
	case addVerb:
		out.ok = r.Add(in.tick, in.cost)
	case refundVerb:
		r.Refund(in.tick, in.cost)
	default:
		out.reading = r.Read(in.tick)
	}
	return out
}

// onKeys drives keys of a table.
type onKeys struct {
	*table.Table
	keys []uint64
}

func (k onKeys) do(in input) (out output) {
	key := k.keys[in.key]
	switch in.verb {
	case allowVerb:
		out.ok = k.Allow(key, in.tick, in.cost, in.limit)
	case takeVerb:
		out.decision = k.Take(key, in.tick, in.cost, in.limit)
	case refundVerb:
		k.Refund(key, in.tick, in.cost)
	default:
		out.reading = k.Read(key, in.tick)
	}
	return out
}

// onLimiter drives a sharded limiter. The limit is its own; an event without one is observed, which
// counts it as an event that is always admitted.
type onLimiter struct{ *pertcore.Limiter }

func (l onLimiter) do(in input) (out output) {
	switch in.verb {
	case allowVerb:
		if out.ok = in.limit == tallyring.Unlimited; out.ok {
			l.Observe(in.tick, in.cost)
		} else {
			out.ok = l.Allow(in.tick, in.cost)
		}
	case takeVerb:
		out.decision = l.Take(in.tick, in.cost)
	case refundVerb:
		l.Refund(in.tick, in.cost)
	default:
		out.reading = l.Read(in.tick)
	}
	return out
}

// second is the width of all buckets here.
const second = time.Second

// form is a window, and which of the two forms of ring or cell holds it.
type form struct {
	name   string
	window tallyring.Window
	packed bool

	// knownLimit is a limit for which two slots need the tagged form, or 0.
	knownLimit uint64
}

// forms are all shapes of rings and cells: S1 with one slot, two, three, and a full line.
func forms() []form {
	beyondPacked := uint64(1) << 30
	return []form{
		{"packed/n=1", tallyring.Window{Slots: 1, Width: second}, true, 0},
		{"packed/n=2", tallyring.Window{Slots: 2, Width: second}, true, 0},
		{"packed/n=2/strict", tallyring.Window{Slots: 2, Width: second, Strict: true}, true, 0},
		{"tagged/n=2", tallyring.Window{Slots: 2, Width: second}, false, beyondPacked},
		{"tagged/n=3", tallyring.Window{Slots: 3, Width: second}, false, 0},
		{"tagged/n=3/strict", tallyring.Window{Slots: 3, Width: second, Strict: true}, false, 0},
		{"tagged/n=7", tallyring.Window{Slots: 7, Width: second}, false, 0},
		{"tagged/n=7/strict", tallyring.Window{Slots: 7, Width: second, Strict: true}, false, 0},
	}
}

// ring returns an empty ring of the form. That it has the form, its largest limit tells.
func (f form) ring(t testing.TB) *atomicring.Ring {
	r, err := atomicring.New(f.window)
	if f.knownLimit != 0 {
		r, err = atomicring.NewFor(f.window, f.knownLimit)
	}
	require.NoError(t, err)
	packed, err := atomicring.NewPacked(f.window, 0)
	require.Equal(t, f.packed, err == nil && packed.MaxLimit() == r.MaxLimit())
	return r
}

// table returns an empty table of cells of the form, with room for a few keys.
func (f form) table(t testing.TB) *table.Table {
	made, err := table.New(table.Config{Window: f.window, MaxLimit: f.knownLimit, Keys: 6})
	require.NoError(t, err)
	packed, err := atomicring.NewPacked(f.window, 1)
	require.Equal(t, f.packed, err == nil && packed.MaxLimit() == made.MaxLimit())
	return made
}
