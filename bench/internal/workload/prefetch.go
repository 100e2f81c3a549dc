package workload

import (
	"strconv"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/limiter"
)

// otherWorkNanos is how long a caller works between knowing a key and deciding on it.
const otherWorkNanos = 200

// prefetchSource is a caller that has other work to do between knowing a key and deciding on it.
func prefetchSource(n int) Source {
	bench := "Prefetch/keys=" + strconv.Itoa(n)
	return Source{bench, func() (Workload, error) {
		hashes := randomHashes(n)
		clock := &tallyring.ManualClock{}
		clock.Set(contender.Start)
		l, err := limiter.New(uint64(contender.Plenty), contender.Span, limiter.WithKeys(n),
			limiter.WithClock(clock))
		if err != nil {
			return Workload{}, err
		}
		for _, hash := range hashes {
			l.AllowKey(limiter.Key(hash), contender.Start, 1)
		}
		steps := stepsFor(otherWorkNanos)
		return Workload{
			Bench: bench,
			Title: "A decision beside other work, " + people(n) + " keys",
			About: "Some 200 ns of arithmetic, then a decision on a key that was hashed before. " +
				"What counts is the time that the decision adds, with and without a call of " +
				"Prefetch before the arithmetic.",
			Floor: "other-work", Together: true, Subtract: true,
			Entries: []Entry{
				{floorInfo("other-work", "arithmetic alone"), trialOf(hashes,
					func(keys []uint64) int { return justWork(steps, keys) })},
				{contender.Info{Name: "tallyring", Note: "work, Allow"}, trialOf(hashes,
					func(keys []uint64) int { return workThenAllow(l, steps, keys) })},
				{contender.Info{Name: "tallyring-prefetch", Note: "Prefetch, work, Allow"},
					trialOf(hashes, func(keys []uint64) int {
						return prefetchWorkAllow(l, steps, keys)
					})},
			},
		}, nil
	}}
}

func trialOf(hashes []uint64, do func([]uint64) int) func() (Trial, error) {
	return func() (Trial, error) {
		return Trial{Run: func(_, first, events int) int {
			return eachHash(hashes, first, events, do)
		}}, nil
	}
}

// work is arithmetic of which every step needs the one before.
//
//go:noinline
func work(steps int, x uint64) uint64 {
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// stepsFor returns how many steps of work take about so long.
func stepsFor(nanos int) int {
	const steps, tries = 1 << 14, 100 // short, so that some try is not interrupted
	clock := tallyring.Monotonic()
	fastest := tallyring.Tick(1 << 62)
	for x := range uint64(tries) {
		began := clock.Now()
		if work(steps, x+1) == 0 {
			return 1 // no seed but 0 leads to 0
		}
		fastest = min(fastest, clock.Now()-began)
	}
	return max(nanos*steps/int(max(fastest, 1)), 1)
}

// The following count events whose work has a result, which is all of them, so that none of it is
// left out.

func justWork(steps int, keys []uint64) (done int) {
	for _, key := range keys {
		if work(steps, key|1) != 0 {
			done++
		}
	}
	return done
}

func workThenAllow(l *limiter.Limiter, steps int, keys []uint64) (allowed int) {
	for _, key := range keys {
		if work(steps, key|1) != 0 && l.AllowKey(limiter.Key(key), contender.Start, 1) {
			allowed++
		}
	}
	return allowed
}

func prefetchWorkAllow(l *limiter.Limiter, steps int, keys []uint64) (allowed int) {
	for _, key := range keys {
		l.Prefetch(limiter.Key(key))
		if work(steps, key|1) != 0 && l.AllowKey(limiter.Key(key), contender.Start, 1) {
			allowed++
		}
	}
	return allowed
}
