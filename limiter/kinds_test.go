package limiter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// kind is one choice of window, as a user makes it and as the model sees it. All are a minute long,
// so that one limit means the same to each.
type kind struct {
	name   string
	opts   []limiter.Option
	slots  int // 0: the log
	width  time.Duration
	strict bool
}

const window = time.Minute

var kinds = []kind{
	{"fixed", []limiter.Option{limiter.WithFixedWindow()}, 1, window, false},
	{"two", nil, 2, window, false},
	{"seven", []limiter.Option{limiter.WithResolution(window / 6)}, 7, window / 6, false},
	{"sixty-one", []limiter.Option{limiter.WithResolution(time.Second)}, 61, time.Second, false},
	{"strict two", []limiter.Option{limiter.WithStrictWindow()}, 2, window, true},
	{"strict seven", []limiter.Option{
		limiter.WithStrictWindow(), limiter.WithResolution(window / 6)}, 7, window / 6, true},
	{"log", []limiter.Option{limiter.WithLog()}, 0, 0, false},
}

// build returns a limiter of the kind. Options given here come last.
func (k kind) build(t testing.TB, limit uint64, opts ...limiter.Option) *limiter.Limiter {
	t.Helper()
	l, err := limiter.New(limit, window, slices.Concat(k.opts, opts)...)
	require.NoError(t, err)
	return l
}

// start is a tick at which buckets of every kind begin, some hours after the origin.
const start = tallyring.Tick(600 * window)

// each runs a test for every kind of window.
func each(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

// hurried tells whether rounds must be fewer: where the tests were asked to be short, and in builds
// that have no native pair, which are those of the race detector.
func hurried() bool { return testing.Short() || !tallyring.PairLockFree() }

// rounds returns how often to repeat: often, or a fifth of that where each takes much longer.
func rounds(often int) int {
	if hurried() {
		return often/5 + 1
	}
	return often
}

// admitted counts how many of n events of cost 1 pass at one tick.
func admitted(l *limiter.Limiter, key string, now tallyring.Tick, n int) int {
	passed := 0
	for range n {
		if l.AllowAt(key, now, 1) {
			passed++
		}
	}
	return passed
}
