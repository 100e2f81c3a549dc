package linear

import (
	"math/rand/v2"
	"slices"

	"github.com/tallyring/tallyring"
)

// pause is what a goroutine does between the stamp of a call and the call, so that the calls of
// others fall into it: nothing, as a rule.
type pause uint8

const (
	none     pause = 0
	yielding pause = 255 // lets others on this processor; any other value is looks at nothing
)

// step is one call of a goroutine. A refund takes back what the goroutine's last Take admitted; the
// rest of the step is what it does instead where there was none.
type step struct {
	input
	refund bool
	before pause
}

// script is what the goroutines of one history are going to do.
type script struct {
	window tallyring.Window
	limit  uint64

	first []input  // one after another, before the others begin
	each  [][]step // one list a goroutine
	last  []input  // at rest

	refundable tallyring.Tick // refunds name events counted at this tick or later
	whole      bool           // all of Take's answer is compared
}

// author writes scripts.
type author struct {
	rng    *rand.Rand
	window tallyring.Window

	fixedLimit bool // the subject's limit is not an argument, except that there may be none
	limits     []uint64
	adds       bool // the subject has Add
	reads      bool // a Read among other calls is within the order
	whole      bool // Take is compared whole, where nothing is refunded out of an older bucket
}

const base = 1000 // bucket at whose end the calls of a history are, far from 0

func (a *author) width() tallyring.Tick { return tallyring.Tick(a.window.Width) }

// some returns an element of a list.
func some[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// script returns one for a ring or a limiter: older buckets first, so that the limit is near, then
// 3 or 4 goroutines with 3 to 5 calls each.
func (a *author) script() script {
	s := script{window: a.window, limit: some(a.rng, a.limits...)}
	ticks := a.ticks()
	top := slices.Max(ticks)
	s.refundable, s.whole = top-top%a.width(), a.whole
	old := a.rng.IntN(3) == 0 // refunds race with the turn
	if old {
		s.refundable, s.whole = 0, false
	}
	s.first = a.past(s.limit)
	sorted := a.rng.IntN(2) == 0
	for range 3 + a.rng.IntN(2) {
		steps := make([]step, 3+a.rng.IntN(3))
		for i := range steps {
			steps[i] = a.step(some(a.rng, ticks...), top, s.limit, !old && a.reads)
		}
		if sorted {
			slices.SortStableFunc(steps, func(x, y step) int { return int(x.tick - y.tick) })
		}
		s.each = append(s.each, steps)
	}
	s.last = a.rest(top)
	return s
}

// ticks returns those that the goroutines choose from: around the end of a bucket, all over two
// buckets, around the ends of two, or around the end of the window that the bucket was in.
func (a *author) ticks() []tallyring.Tick {
	end, width := (base+1)*a.width(), a.width()
	length := tallyring.Tick(max(a.window.Slots-1, 1)) * width
	spread := make([]tallyring.Tick, 6)
	for i := range spread {
		spread[i] = end - width + tallyring.Tick(a.rng.Int64N(int64(2*width)))
	}
	return some(a.rng,
		[]tallyring.Tick{end - 2, end - 1, end, end + 1},
		[]tallyring.Tick{end - 1, end, end + width/2},
		[]tallyring.Tick{end - 1, end, end + width - 1, end + width},
		[]tallyring.Tick{end - 1, end + length - 1, end + length, end + length + 1},
		spread)
}

// past returns events in the buckets before the first that the goroutines use, and in that one.
func (a *author) past(limit uint64) []input {
	var calls []input
	for age := min(a.window.Slots-1, 3); age >= 0; age-- {
		if a.rng.IntN(2) == 0 {
			continue
		}
		tick := (base-tallyring.Tick(age))*a.width() + tallyring.Tick(a.rng.Int64N(1000))
		cost := a.rng.Uint64N(limit + 1)
		calls = append(calls, input{verb: allowVerb, tick: tick, cost: cost, limit: limit})
	}
	return calls
}

// step returns one call. Adds are never late: they have the latest tick of all.
func (a *author) step(now, top tallyring.Tick, limit uint64, reads bool) step {
	s := step{input: input{verb: allowVerb, tick: now, limit: limit}, before: a.pause()}
	s.cost = 1 + a.rng.Uint64N(max(1, limit/3))
	switch kind := a.rng.IntN(20); {
	case kind < 9:
	case kind < 13:
		s.verb = takeVerb
	case kind < 15:
		s.verb, s.refund = takeVerb, true
	case kind < 17 && a.adds:
		s.verb, s.tick = addVerb, top
	case kind < 19 && reads:
		s.verb = readVerb
	case kind == 19 && a.fixedLimit:
		s.limit = tallyring.Unlimited
	case kind == 19:
		s.limit = some(a.rng, 0, limit-1, limit+1, tallyring.Unlimited)
	}
	if a.rng.IntN(16) == 0 {
		s.cost = some(a.rng, 0, limit, limit+1)
	}
	return s
}

func (a *author) pause() pause {
	switch a.rng.IntN(4) {
	case 0:
		return yielding
	case 1:
		return pause(a.rng.IntN(60))
	}
	return none
}

// rest returns readings of every bucket that may count: each is the oldest once.
func (a *author) rest(top tallyring.Tick) []input {
	var calls []input
	for age := range a.window.Slots {
		calls = append(calls, input{verb: readVerb, tick: top + tallyring.Tick(age)*a.width()})
	}
	return calls
}
