package contender

import (
	"fmt"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/exphist"
	"github.com/tallyring/tallyring/gcra"
	"github.com/tallyring/tallyring/pertcore"
	"github.com/tallyring/tallyring/slidinglog"
)

// Some is the limit of the workloads that compare kinds of windows: the exact log has to remember
// every event that it admits.
const Some Limit = 10_000

// WindowMaker makes one kind of window, for one key.
type WindowMaker struct {
	SingleMaker
	Limit Limit // that it is made for

	// Copies makes n of them for their memory, which is then as large as it gets, and returns what
	// keeps them alive.
	Copies func(n int) (any, error)

	Enough int // how many copies take so much memory that the process shows it
}

// Windows returns every kind of window that the engine has, each by itself.
func Windows() []WindowMaker {
	return []WindowMaker{
		ringWindow("fixed", tallyring.Window{Slots: 1, Width: Span}),
		ringWindow("sliding-2", slotted(2, false)),
		ringWindow("sliding-7", slotted(7, false)),
		ringWindow("sliding-61", slotted(61, false)),
		ringWindow("strict-2", slotted(2, true)),
		ringWindow("strict-7", slotted(7, true)),
		ringWindow("strict-61", slotted(61, true)),
		bucketWindow(),
		histogramWindow("exphist-0.1", 0.1),
		histogramWindow("exphist-0.01", 0.01),
		logWindow("log-100", Few, 1<<13),
		logWindow("log-10000", Some, 1<<6),
		spreadWindow(),
	}
}

// slotted returns a window of Span in so many slots, two or more.
func slotted(slots int, isStrict bool) tallyring.Window {
	return tallyring.Window{Slots: slots, Width: Span / widths(slots), Strict: isStrict}
}

// kindInfo is what stands beside the figures of a kind of window.
func kindInfo(name, note string) Info { return Info{Name: name, Note: note} }

func ringWindow(name string, w tallyring.Window) WindowMaker {
	return WindowMaker{
		SingleMaker: SingleMaker{Info: kindInfo(name, "atomicring"),
			Make: func(limit Limit) (Single, error) { return newRingOf(w, limit) }},
		Limit: Some, Enough: 1 << 16,
		Copies: func(n int) (any, error) {
			return copies(n, func() (*atomicring.Ring, error) {
				return atomicring.NewFor(w, uint64(Some))
			}, func(r *atomicring.Ring) bool { return r.Allow(Start, 1, uint64(Some)) })
		},
	}
}

func spreadWindow() WindowMaker {
	return WindowMaker{
		SingleMaker: SingleMaker{Make: newSpread,
			Info: kindInfo("pertcore", "two buckets, on a line per processor")},
		Limit: Some, Enough: 1 << 15,
		Copies: func(n int) (any, error) {
			return copies(n, func() (*pertcore.Limiter, error) {
				return pertcore.NewLimiter(slotted(2, false), uint64(Some))
			}, func(l *pertcore.Limiter) bool { return l.Allow(Start, 1) })
		},
	}
}

// tokens is the engine's token bucket without keys. It fills in Span.
type tokens struct{ bucket *gcra.Bucket }

func newTokens(limit Limit) (Single, error) {
	made, err := gcra.New(uint64(limit), Span, uint64(limit))
	return tokens{made}, err
}

func (t tokens) Decide(e Events) (allowed int) {
	bucket, now := t.bucket, e.From
	for range e.Count {
		if bucket.Allow(now, 1) {
			allowed++
		}
		now += e.Step
	}
	return allowed
}

func bucketWindow() WindowMaker {
	return WindowMaker{
		SingleMaker: SingleMaker{Info: kindInfo("gcra", "the token bucket"), Make: newTokens},
		Limit:       Some, Enough: 1 << 16,
		Copies: func(n int) (any, error) {
			return copies(n, func() (*gcra.Bucket, error) {
				return gcra.New(uint64(Some), Span, uint64(Some))
			}, func(b *gcra.Bucket) bool { return b.Allow(Start, 1) })
		},
	}
}

// histogram is the engine's exponential histogram.
type histogram struct {
	histogram *exphist.Histogram
	limit     uint64
}

func (h histogram) Decide(e Events) (allowed int) {
	counts, limit, now := h.histogram, h.limit, e.From
	for range e.Count {
		if counts.Allow(now, 1, limit) {
			allowed++
		}
		now += e.Step
	}
	return allowed
}

func histogramWindow(name string, eps float64) WindowMaker {
	return WindowMaker{
		SingleMaker: SingleMaker{
			Info: kindInfo(name, fmt.Sprintf("the exponential histogram, relative error %g", eps)),
			Make: func(limit Limit) (Single, error) {
				made, err := exphist.New(Span, eps, uint64(limit))
				return histogram{made, uint64(limit)}, err
			},
		},
		Limit: Some, Enough: 1 << 14,
		Copies: func(n int) (any, error) {
			return copies(n, func() (*exphist.Histogram, error) {
				return exphist.New(Span, eps, uint64(Some))
			}, func(h *exphist.Histogram) bool { return h.Allow(Start, 1, uint64(Some)) })
		},
	}
}

// logged is the engine's exact log.
type logged struct {
	log   *slidinglog.Log
	limit uint64
}

func (l logged) Decide(e Events) (allowed int) {
	log, limit, now := l.log, l.limit, e.From
	for range e.Count {
		if log.Allow(now, 1, limit) {
			allowed++
		}
		now += e.Step
	}
	return allowed
}

func logWindow(name string, limit Limit, enough int) WindowMaker {
	return WindowMaker{
		SingleMaker: SingleMaker{
			Info: kindInfo(name, fmt.Sprintf("the exact log, limit %d; memory when full", limit)),
			Make: func(limit Limit) (Single, error) {
				made, err := slidinglog.New(Span)
				return logged{made, uint64(limit)}, err
			},
		},
		Limit: limit, Enough: enough,
		Copies: func(n int) (any, error) {
			return copies(n, func() (*slidinglog.Log, error) { return slidinglog.New(Span) },
				func(l *slidinglog.Log) bool {
					all := Events{Start, tallyring.Tick(Span) / tallyring.Tick(limit), int(limit)}
					return logged{l, uint64(limit)}.Decide(all) == all.Count
				})
		},
	}
}

// copies makes n of a kind and lets each count what makes its memory as large as it gets.
func copies[T any](n int, create func() (*T, error), fill func(*T) bool) (any, error) {
	list := make([]*T, n)
	for i := range list {
		made, err := create()
		if err != nil {
			return nil, err
		}
		if !fill(made) {
			return nil, fmt.Errorf("copy %d denies what it should hold", i)
		}
		list[i] = made
	}
	return list, nil
}
