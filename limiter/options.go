package limiter

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// FullPolicy says what happens to an event whose key finds no cell, because all of them count
// something.
type FullPolicy = table.Policy

const (
	Deny     = table.Deny     // deny it
	Allow    = table.Allow    // admit it, and do not count it
	Overflow = table.Overflow // decide it on one window that all such keys share
)

// DefaultKeys is the number of keys that always fit where WithKeys does not say otherwise.
const DefaultKeys = 1 << 16

// Option is a choice that New takes. Options may come in any order; of two that say the same thing
// the last one counts, and two that contradict are an error of New.
type Option func(*settings)

// settings is what the options chose.
type settings struct {
	resolution     time.Duration // 0: the whole window
	resolved       bool
	strict         bool
	fixed          bool
	log            bool
	keys           int
	policy         FullPolicy
	clock          tallyring.Clock
	maxLimit       uint64
	ipv6PrefixBits int
	hot            []string
	burst          uint64
	bucket         bool
	shadow         bool
	countDenied    bool
}

func defaults() settings {
	return settings{keys: DefaultKeys, clock: tallyring.RelaxedCycle(), ipv6PrefixBits: 64}
}

// WithResolution divides the window into buckets of the given width, which must divide it: a window
// of a minute at a resolution of a second is a ring of 61 slots. Without it the width is the
// window. Finer buckets make an interpolated window more exact and a strict one less wasteful. Two
// buckets take 23 bytes a key, 3 to 7 take 108, and each further 8 take 107 more. The narrowest
// width is 36 ns.
func WithResolution(width time.Duration) Option {
	return func(s *settings) { s.resolution, s.resolved = width, true }
}

// WithStrictWindow counts the oldest bucket whole, so that no trailing window ever holds more
// admitted events than the limit.
func WithStrictWindow() Option { return func(s *settings) { s.strict = true } }

// WithFixedWindow counts in one bucket that starts anew at each multiple of the window. Up to twice
// the limit can pass around a boundary.
func WithFixedWindow() Option { return func(s *settings) { s.fixed = true } }

// WithBurst makes a token bucket of each key (package gcra): events come at the rate of limit per
// window, and after a pause up to burst of them at once. It takes no more memory than two buckets
// of a window. The rate is fixed for the limiter's life; the limit that decisions name, and that
// SetLimit and SetKeyLimit change, is the burst.
//
// A bucket owes at most MaxLimit events: what is observed beyond, or admitted under no limit, is
// not charged. WithMaxLimit makes room for more. A key holds its cell until two spans
// (gcra.Rate.Span) are over since the one of its last event, and a full table names a span as the
// RetryAfter: a span is the time in which the largest burst comes back, or up to twice that.
func WithBurst(burst uint64) Option {
	return func(s *settings) { s.burst, s.bucket = burst, true }
}

// WithLog keeps the tick of every admitted event: exact, with memory that follows the limit, and a
// mutex per key. It is for small limits.
func WithLog() Option { return func(s *settings) { s.log = true } }

// WithKeys sets how many keys that count something at one time always fit, or, under WithBurst,
// hold a cell: 1 to table.MaxKeys. The
// memory for them is taken at once, about 23 bytes a key for two buckets, except under WithLog.
func WithKeys(n int) Option { return func(s *settings) { s.keys = n } }

// WithFullPolicy sets what happens to an event whose key finds no cell. The default is Deny.
func WithFullPolicy(p FullPolicy) Option { return func(s *settings) { s.policy = p } }

// WithClock sets the clock of the verbs that are given no tick. The default is
// [tallyring.RelaxedCycle], whose ticks are those of [tallyring.Monotonic] to some hundred
// nanoseconds.
func WithClock(c tallyring.Clock) Option { return func(s *settings) { s.clock = c } }

// WithMaxLimit sets the largest limit that SetLimit and SetKeyLimit will be given, where that is
// more than the limit given to New: cells are made wide enough for it.
func WithMaxLimit(limit uint64) Option { return func(s *settings) { s.maxLimit = limit } }

// WithIPv6Prefix sets how many leading bits of an IPv6 address KeyAddr regards: 1 to 128. The
// default is 64, the usual size of one customer's network.
func WithIPv6Prefix(bits int) Option { return func(s *settings) { s.ipv6PrefixBits = bits } }

// validate returns the first contradiction or value out of range.
func (s *settings) validate(limit uint64, window time.Duration) error {
	switch {
	case window <= 0:
		return fmt.Errorf("limiter: window is %v, want more than 0", window)
	case window > tallyring.MaxLength:
		return fmt.Errorf("limiter: window is %v, want at most %v", window, tallyring.MaxLength)
	case s.fixed && s.strict:
		return fmt.Errorf("limiter: window is both fixed and strict, want one of them: " +
			"a fixed window has no oldest bucket to count whole")
	case s.log && (s.fixed || s.strict || s.resolved):
		return fmt.Errorf("limiter: the log is exact and has no buckets, " +
			"want it without fixed window, strict window or resolution")
	case s.bucket && (s.fixed || s.strict || s.resolved || s.log || len(s.hot) > 0):
		return fmt.Errorf("limiter: a token bucket has no buckets of time, " +
			"want it without fixed or strict window, resolution, log or hot keys")
	case s.log && s.countDenied:
		return fmt.Errorf("limiter: the memory of the log follows what it counts, " +
			"want it without counting denied events")
	case s.log && len(s.hot) > 0:
		return fmt.Errorf("limiter: the log is one mutex per key, want it without hot keys")
	case s.fixed && s.resolved:
		return fmt.Errorf("limiter: a fixed window is one bucket, want it without resolution")
	case s.resolved && (s.resolution <= 0 || s.resolution > window):
		return fmt.Errorf("limiter: resolution is %v, want more than 0 and at most the window %v",
			s.resolution, window)
	case s.resolved && window%s.resolution != 0:
		return fmt.Errorf("limiter: window %v is no multiple of resolution %v, "+
			"want a resolution such as %v", window, s.resolution, divisor(window, s.resolution))
	case s.resolved && window/s.resolution >= tallyring.MaxSlots:
		return fmt.Errorf("limiter: resolution %v makes %d slots, want at most %d",
			s.resolution, window/s.resolution+1, tallyring.MaxSlots)
	case s.keys < 1 || uint64(s.keys) > table.MaxKeys:
		return fmt.Errorf("limiter: keys is %d, want 1 to %d", s.keys, uint64(table.MaxKeys))
	case s.policy > Overflow:
		return fmt.Errorf("limiter: full policy is %d, want Deny, Allow or Overflow", s.policy)
	case s.clock == nil:
		return fmt.Errorf("limiter: clock is nil, want one such as tallyring.Monotonic()")
	case s.ipv6PrefixBits < 1 || s.ipv6PrefixBits > 128:
		return fmt.Errorf("limiter: IPv6 prefix is %d bits, want 1 to 128", s.ipv6PrefixBits)
	case s.bucket && s.maxLimit != 0 && s.maxLimit < s.burst && s.burst != tallyring.Unlimited:
		return fmt.Errorf("limiter: burst %d is above the largest limit %d, want at most that",
			s.burst, s.maxLimit)
	case !s.bucket && s.maxLimit != 0 && s.maxLimit < limit && limit != tallyring.Unlimited:
		return fmt.Errorf("limiter: limit %d is above the largest limit %d, want at most that",
			limit, s.maxLimit)
	}
	return nil
}

// largest returns the largest limit that the cells must hold, 0 where none is known.
func (s *settings) largest(limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return s.maxLimit
	}
	return max(limit, s.maxLimit)
}

// divisor returns a width near resolution that divides window: the largest that makes no fewer
// buckets, if there is one soon, and else the window.
func divisor(window, resolution time.Duration) time.Duration {
	first := window/resolution + 1
	for buckets := first; buckets < first+1000 && window/buckets >= time.Microsecond; buckets++ {
		if window%buckets == 0 {
			return window / buckets
		}
	}
	return window
}

// window returns the ring that the options chose.
func (s *settings) window(length time.Duration) tallyring.Window {
	switch {
	case s.fixed:
		return tallyring.Window{Slots: 1, Width: length}
	case s.resolved:
		slots := int(length/s.resolution) + 1
		return tallyring.Window{Slots: slots, Width: s.resolution, Strict: s.strict}
	}
	return tallyring.Window{Slots: 2, Width: length, Strict: s.strict}
}
