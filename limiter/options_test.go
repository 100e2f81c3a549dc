package limiter_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// wrongChoice is a call of New that must fail, and what its error must say: the value, and a cure.
type wrongChoice struct {
	name   string
	limit  uint64
	window time.Duration
	opts   []limiter.Option
	value  string
	cure   string
}

func wrongRanges() []wrongChoice {
	keys := func(n int) []limiter.Option { return []limiter.Option{limiter.WithKeys(n)} }
	logKeys := func(n int) []limiter.Option {
		return []limiter.Option{limiter.WithKeys(n), limiter.WithLog()}
	}
	width := func(d time.Duration) []limiter.Option {
		return []limiter.Option{limiter.WithResolution(d)}
	}
	one := func(o limiter.Option) []limiter.Option { return []limiter.Option{o} }
	return []wrongChoice{
		{"window 0", 1, 0, nil, "0s", "more than 0"},
		{"window negative", 1, -time.Second, nil, "-1s", "more than 0"},
		{"window least", 1, math.MinInt64, nil, "-2562047h", "more than 0"},
		{"window too long", 1, tallyring.MaxLength + 1, nil, "87672h0m0.000000001s", "87672h0m0s"},
		{"window longest", 1, math.MaxInt64, nil, "2562047h", "87672h0m0s"},
		{"window 0, log", 1, 0, one(limiter.WithLog()), "0s", "more than 0"},
		{"window too long, log", 1, math.MaxInt64, one(limiter.WithLog()), "2562047h", "87672h"},
		{"resolution 0", 1, window, width(0), "0s", "more than 0"},
		{"resolution negative", 1, window, width(-1), "-1ns", "more than 0"},
		{"resolution not dividing", 1, window, width(7 * time.Second), "7s", "6s"},
		{"resolution prime window", 1, 1000003, width(1000), "1µs", "such as"},
		{"resolution above window", 1, window, width(window + 1), "1m0.000000001s", "1m0s"},
		{"resolution too fine", 1, window, width(time.Microsecond), "60000001 slots", "65536"},
		{"one slot too many", 1, 1 << 16, width(1), "resolution 1ns makes 65537 slots", "65536"},
		{"keys 0", 1, window, keys(0), "0", "1 to"},
		{"keys -1", 1, window, keys(-1), "-1", "1 to"},
		{"keys least", 1, window, keys(math.MinInt), "-", "1 to"},
		{"keys most", 1, window, keys(math.MaxInt), "keys", "want"},
		{"keys 0, log", 1, window, logKeys(0), "0", "1 to"},
		{"keys most, log", 1, window, logKeys(math.MaxInt), "keys", "1 to"},
		{"policy", 1, window, one(limiter.WithFullPolicy(3)), "3", "Deny, Allow or Overflow"},
		{"policy, log", 1, window,
			[]limiter.Option{limiter.WithLog(), limiter.WithFullPolicy(3)}, "3", "Overflow"},
		{"policy most", 1, window, one(limiter.WithFullPolicy(255)), "255", "Overflow"},
		{"denied events in a log", 1, window,
			[]limiter.Option{limiter.WithLog(), limiter.WithCountDenied()},
			"memory of the log", "without counting denied"},
		{"no clock", 1, window, one(limiter.WithClock(nil)), "clock is nil", "Monotonic()"},
		{"prefix 0", 1, window, one(limiter.WithIPv6Prefix(0)), "0 bits", "1 to 128"},
		{"prefix -1", 1, window, one(limiter.WithIPv6Prefix(-1)), "-1 bits", "1 to 128"},
		{"prefix 129", 1, window, one(limiter.WithIPv6Prefix(129)), "129 bits", "1 to 128"},
		{"limit no cell holds", math.MaxUint64 - 1, window, nil, "18446744073709551614", "lower"},
		{"largest limit no cell holds", 1, window, one(limiter.WithMaxLimit(1 << 60)),
			"1152921504606846976", "lower"},
		{"limit above largest", 10, window, one(limiter.WithMaxLimit(9)), "10", "9"},
		{"burst at no rate", 0, window, one(limiter.WithBurst(1)), "0 events", "want"},
		{"burst at any rate", math.MaxUint64, window, one(limiter.WithBurst(1)),
			"rate of 18446744073709551615", "at most 420000000000"},
		{"largest burst", 100, 365 * 24 * time.Hour,
			[]limiter.Option{limiter.WithBurst(100), limiter.WithMaxLimit(5000)},
			"largest limit 5000", "want"},
		{"hot key no window holds", 1 << 40, time.Hour, one(limiter.WithHotKeys("site")),
			"1099511627776", "lower"},
		{"window no cell counts", 1, 35, nil, "35ns", "width of"},
		{"width no cell counts", 1, 350, width(35), "35ns", "width of"},
	}
}

func contradictions() []wrongChoice {
	fixed, strict, log := limiter.WithFixedWindow(), limiter.WithStrictWindow(), limiter.WithLog()
	width := limiter.WithResolution(time.Second)
	opts := func(o ...limiter.Option) []limiter.Option { return o }
	return []wrongChoice{
		{"fixed strict", 1, window, opts(fixed, strict), "both fixed and strict", "one of them"},
		{"strict fixed", 1, window, opts(strict, fixed), "both fixed and strict", "one of them"},
		{"log resolution", 1, window, opts(log, width), "log", "without"},
		{"log fixed", 1, window, opts(log, fixed), "log", "without fixed window"},
		{"log strict", 1, window, opts(strict, log), "log", "strict window"},
		{"fixed resolution", 1, window, opts(width, fixed), "fixed", "without resolution"},
		{"fixed resolution of the window", 1, window,
			opts(fixed, limiter.WithResolution(window)), "fixed", "without resolution"},
		{"all of them", 1, window, opts(width, log, strict, fixed), "fixed", "want"},
	}
}

// TestNewRefusesWithTheValueAndTheCure gives New every value out of range and every contradiction.
// Each must be an error of one line that begins with the package's name and holds the value and
// what would be right, and no limiter.
func TestNewRefusesWithTheValueAndTheCure(t *testing.T) {
	for _, c := range append(wrongRanges(), contradictions()...) {
		t.Run(c.name, func(t *testing.T) {
			l, err := limiter.New(c.limit, c.window, c.opts...)
			require.Error(t, err)
			require.Nil(t, l)
			text := err.Error()
			require.True(t, strings.HasPrefix(text, "limiter: "), text)
			require.NotContains(t, text, "\n")
			require.Less(t, len(text), 200, text)
			require.Contains(t, text, "want")
			require.Contains(t, text, c.value)
			require.Contains(t, text, c.cure)
		})
	}
}

// TestTheCureOfAnErrorCures takes the width that an error proposes, or the least width it names,
// and finds that New takes it.
func TestTheCureOfAnErrorCures(t *testing.T) {
	for _, c := range []struct {
		window, width time.Duration
	}{
		{window, 7 * time.Second}, {time.Hour, 7 * time.Minute}, {1000003, 1000},
		{24 * time.Hour, 13 * time.Hour}, {window, 35}, {window, window - 1},
	} {
		_, err := limiter.New(1, c.window, limiter.WithResolution(c.width))
		require.Error(t, err)
		words := strings.Fields(err.Error())
		proposed, parseErr := time.ParseDuration(words[len(words)-1])
		if parseErr != nil {
			require.Contains(t, err.Error(), "at most 65536", "%v", err)
			continue
		}
		_, err = limiter.New(1, c.window, limiter.WithResolution(proposed))
		require.NoError(t, err, "proposed %v for a window of %v", proposed, c.window)
	}
	_, err := limiter.New(1, 1)
	require.ErrorContains(t, err, "width of 36ns or more")
	_, err = limiter.New(1, 36)
	require.NoError(t, err)
}

// TestExtremesThatAreRight builds limiters at the very ends of what is promised, and takes one
// decision on each.
func TestExtremesThatAreRight(t *testing.T) {
	for name, c := range map[string]struct {
		limit  uint64
		window time.Duration
		opts   []limiter.Option
	}{
		"longest":           {1, tallyring.MaxLength, nil},
		"longest strict":    {1, tallyring.MaxLength, []limiter.Option{limiter.WithStrictWindow()}},
		"longest fixed":     {1, tallyring.MaxLength, []limiter.Option{limiter.WithFixedWindow()}},
		"longest log":       {1, tallyring.MaxLength, []limiter.Option{limiter.WithLog()}},
		"shortest log":      {1, 1, []limiter.Option{limiter.WithLog()}},
		"most slots":        {1, 65535 * 36, []limiter.Option{limiter.WithResolution(36)}},
		"resolution whole":  {1, window, []limiter.Option{limiter.WithResolution(window)}},
		"one key":           {1, window, nil},
		"largest log limit": {math.MaxUint64 - 1, window, []limiter.Option{limiter.WithLog()}},
		"unlimited":         {tallyring.Unlimited, window, nil},
		"prefix 1":          {1, window, []limiter.Option{limiter.WithIPv6Prefix(1)}},
		"prefix 128":        {1, window, []limiter.Option{limiter.WithIPv6Prefix(128)}},
	} {
		l, err := limiter.New(c.limit, c.window, append(c.opts, limiter.WithKeys(1))...)
		require.NoError(t, err, name)
		require.True(t, l.AllowAt("a", start, 1), name)
		require.Equal(t, c.limit > 1, l.AllowAt("a", start, 1), name)
	}
}

// TestTheLastOfTwoEqualOptionsCounts gives each option twice, a wrong value first.
func TestTheLastOfTwoEqualOptionsCounts(t *testing.T) {
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	l, err := limiter.New(5, window,
		limiter.WithKeys(-1), limiter.WithKeys(100),
		limiter.WithClock(nil), limiter.WithClock(clock),
		limiter.WithFullPolicy(77), limiter.WithFullPolicy(limiter.Overflow),
		limiter.WithMaxLimit(1), limiter.WithMaxLimit(6),
		limiter.WithIPv6Prefix(1000), limiter.WithIPv6Prefix(48),
		limiter.WithResolution(-1), limiter.WithResolution(20*time.Second),
		limiter.WithStrictWindow(), limiter.WithStrictWindow(),
	)
	require.NoError(t, err)
	require.Equal(t, start, l.Take("a", 5).At, "the second clock")
	clock.Advance(60*time.Second - 1)
	require.False(t, l.Allow("a"), "strict, the second resolution")
	clock.Advance(1)
	require.False(t, l.Allow("a"), "strict: the oldest bucket counts whole until it has left")
	clock.Advance(20 * time.Second)
	require.True(t, l.Allow("a"))
	_, err = limiter.New(5, window, limiter.WithKeys(100), limiter.WithKeys(-1))
	require.ErrorContains(t, err, "keys is -1")
}

// TestOptionsComeInAnyOrder shuffles a full set of options and finds the same limiter each time.
func TestOptionsComeInAnyOrder(t *testing.T) {
	clock := &tallyring.ManualClock{}
	opts := []limiter.Option{
		limiter.WithKeys(100), limiter.WithClock(clock), limiter.WithMaxLimit(1 << 30),
		limiter.WithFullPolicy(limiter.Allow), limiter.WithIPv6Prefix(48),
		limiter.WithResolution(time.Second), limiter.WithStrictWindow(),
	}
	first, err := limiter.New(5, window, opts...)
	require.NoError(t, err)
	empty, taken := first.Stats(), first.TakeAt("a", 1, 3)
	for range 50 {
		rand.Shuffle(len(opts), func(i, j int) { opts[i], opts[j] = opts[j], opts[i] })
		l, err := limiter.New(5, window, opts...)
		require.NoError(t, err)
		require.Equal(t, empty, l.Stats())
		require.Equal(t, first.MaxLimit(), l.MaxLimit())
		require.Equal(t, taken, l.TakeAt("a", 1, 3))
	}
}
