package linear

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/gcra"
	"github.com/tallyring/tallyring/table"
)

// onBucket drives a token bucket, whose burst is its own. An event without a limit is added.
type onBucket struct{ *gcra.Bucket }

func (b onBucket) do(in input) (out output) {
	switch {
	case in.verb == allowVerb && in.limit == tallyring.Unlimited:
		b.Add(in.tick, in.cost)
		out.ok = true // it is admitted, though not all of it may be owed
	case in.verb == addVerb:
		out.ok = b.Add(in.tick, in.cost)
	case in.verb == allowVerb:
		out.ok = b.Allow(in.tick, in.cost)
	case in.verb == takeVerb:
		out.decision = b.Take(in.tick, in.cost)
	case in.verb == refundVerb:
		b.Refund(in.tick, in.cost)
	default:
		out.reading = b.Read(in.tick)
	}
	return out
}

// largestBurst is that of all buckets here. It refills in less than a span.
const largestBurst = 50

// rateFor returns one event a second, laid out for a burst.
func rateFor(t *testing.T, burst uint64) gcra.Rate {
	rate, err := gcra.NewRate(1, second, burst)
	require.NoError(t, err)
	return rate
}

// bucketAuthor writes scripts about the end of a span.
func bucketAuthor(t *testing.T, fixedBurst bool) *author {
	rate := rateFor(t, largestBurst)
	w := tallyring.Window{Slots: 2, Width: rate.Span()}
	return &author{rng: seeded(), window: w, fixedLimit: fixedBurst, adds: fixedBurst,
		reads: true, limits: []uint64{1, 2, 3, 5, 12, 40}}
}

// bucketScript is a script in which a bucket refills between two ticks, by a part of an event or by
// some. A Take has the bucket's own burst where that is no argument.
func (a *author) bucketScript() script {
	s := a.script()
	s.refundable = 0
	waits := []time.Duration{0, 0, 1, second/2 - 1, second, second + 1, 5 * second}
	for _, steps := range s.each {
		for i := range steps {
			steps[i].tick += tallyring.Tick(some(a.rng, waits...))
			if a.fixedLimit && steps[i].verb == takeVerb {
				steps[i].limit = s.limit
			}
		}
	}
	top := s.last[0].tick
	for _, later := range waits[2:] {
		s.last = append(s.last, input{verb: readVerb, tick: top + tallyring.Tick(later)})
	}
	return s
}

// enoughOfBuckets is enough for what takes one swap alone: some passes, which are soon over.
func (t *tally) enoughOfBuckets() bool {
	return t.enough() && t.histories >= 4*len(procs)*rounds()
}

// TestTokenBuckets records calls on buckets of their own. Every one is within the order: late ones,
// refunds, and all of each answer.
func TestTokenBuckets(t *testing.T) {
	a := bucketAuthor(t, true)
	var seen tally
	campaign{
		script: a.bucketScript,
		on: func(s script) subject {
			b, err := gcra.New(1, second, s.limit)
			require.NoError(t, err)
			return onBucket{b}
		},
		judge: func(r *recorder) {
			seen.check(t, newBucketModel(rateFor(t, r.limit), false), r.history(), nil)
		},
		enough: seen.enoughOfBuckets,
	}.run(t)
	t.Log(&seen)
}

// TestTokenBucketKey records calls on one key of a table of token buckets, which is not there when
// the goroutines begin in half of the histories.
func TestTokenBucketKey(t *testing.T) {
	a, rate := bucketAuthor(t, false), rateFor(t, largestBurst)
	var seen tally
	campaign{
		script: func() script {
			s := a.bucketScript()
			if a.rng.IntN(2) == 0 {
				s.first = nil
			}
			return s
		},
		on: func(script) subject {
			made, err := table.New(table.Config{Window: a.window, Keys: 6, Cells: &rate})
			require.NoError(t, err)
			return onKeys{made, []uint64{a.rng.Uint64()}}
		},
		judge: func(r *recorder) {
			seen.check(t, newBucketModel(rate, true), r.history(), nil)
		},
		enough: seen.enoughOfBuckets,
	}.run(t)
	t.Log(&seen)
}

// TestBucketModelRefuses gives the model histories that no sound bucket can have, each beside one
// that differs in a stamp or an answer, and that it must accept.
func TestBucketModelRefuses(t *testing.T) {
	m := newBucketModel(rateFor(t, largestBurst), false)
	border := 1000 * tallyring.Tick(m.spanNanos)
	full := allow(border-1, 2, 2, true).at(1, 2)
	three := add(border, 3)
	half := tallyring.Decision{
		Limit: 2, At: border, RetryAfter: second - 1, ResetAfter: 2*second - 1}
	short := half
	short.RetryAfter--
	for _, test := range []struct {
		name       string
		good, evil history
	}{
		{"one too many",
			history{allow(border, 1, 2, true).at(1, 4), allow(border, 1, 2, true).at(2, 3)},
			history{allow(border, 1, 1, true).at(1, 4), allow(border, 1, 1, true).at(2, 3)}},
		{"a denial while the bucket is full",
			history{allow(border, 1, 1, true).at(1, 4), allow(border, 1, 1, false).at(2, 3)},
			history{allow(border, 1, 1, false).at(2, 3), allow(border, 1, 1, true).at(4, 5)}},
		{"a refill that is a nanosecond early",
			history{full, allow(border-1+tallyring.Tick(second), 1, 2, true).at(3, 4)},
			history{full, allow(border-2+tallyring.Tick(second), 1, 2, true).at(3, 4)}},
		{"a late event that mints",
			history{allow(border, 2, 2, true).at(1, 2),
				allow(border-5*tallyring.Tick(second), 1, 2, false).at(3, 4)},
			history{allow(border, 2, 2, true).at(1, 2),
				allow(border-5*tallyring.Tick(second), 1, 2, true).at(3, 4)}},
		{"a lost charge",
			history{three.at(1, 3), add(border, 4).at(2, 4), read(border, 7, 7, 7).at(5, 6)},
			history{three.at(1, 3), add(border, 4).at(2, 4), read(border, 4, 4, 4).at(5, 6)}},
		{"a refund that is lost",
			history{full, refund(border-1, 1).at(3, 4), read(border-1, 1, 1, 1).at(5, 6)},
			history{full, refund(border-1, 1).at(3, 4), read(border-1, 2, 2, 2).at(5, 6)}},
		{"a refund from two spans ago",
			history{full, refund(border-1-tallyring.Tick(2*m.spanNanos), 1).at(3, 4),
				read(border-1, 2, 2, 2).at(5, 6)},
			history{full, refund(border-1-tallyring.Tick(2*m.spanNanos), 1).at(3, 4),
				read(border-1, 1, 1, 1).at(5, 6)}},
		{"a wait that is a nanosecond short",
			history{full, take(border, 1, half).at(3, 4)},
			history{full, take(border, 1, short).at(3, 4)}},
	} {
		require.Equal(t, ordered, m.judge(test.good, nil), test.name)
		require.Equal(t, broken, m.judge(test.evil, nil), test.name)
		require.Contains(t, m.explain(t.TempDir(), test.evil, nil), "porcupine says Illegal")
	}
	begun := bucketModel{m.spanNanos, m.most, true}
	late := take(border-1, 1, tallyring.Decision{
		Allowed: true, Limit: 2, At: border, Remaining: 1, ResetAfter: second + 1})
	under := allow(border, 2, 2, false)
	require.Equal(t, turned, begun.judge(history{under.at(1, 4), late.at(2, 3)}, nil),
		"another event has made the cell, and is denied in the end")
	require.Equal(t, broken, begun.judge(history{late.at(2, 3), under.at(4, 5)}, nil))
}
