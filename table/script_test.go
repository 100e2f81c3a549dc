package table

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

const (
	hour = int64(time.Hour)
	year = int64(tallyring.MaxLength / 10)
)

// chooser gives the choices of a script: a seeded generator, or the bytes of a fuzzer.
type chooser interface {
	below(n int) int
	more() bool
}

// randomChooser chooses evenly, a given number of operations long.
type randomChooser struct {
	random *rand.Rand
	left   int
}

func (c *randomChooser) below(n int) int { return c.random.IntN(n) }

func (c *randomChooser) more() bool {
	c.left--
	return c.left >= 0
}

// byteChooser takes one byte for every choice, and 0 where none is left.
type byteChooser struct{ data []byte }

func (c *byteChooser) below(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *byteChooser) more() bool { return len(c.data) > 0 }

// script drives a table and its model with the same operations, one at a time, and compares every
// answer.
//
// Latest is the latest tick that was given for any key. A key that is expired at latest may have
// lost its cell, so it is only asked about at latest from then on, at which both what it was and
// what a new key would be count nothing. All other keys are asked about at late ticks too.
type script struct {
	t      *testing.T
	table  *Table
	model  *model
	choose chooser
	keys   []uint64
	spare  int  // keys that may be live at one time
	wraps  bool // bucket 0 of the layout's range is crossed
	latest int64
	end    int64 // no tick is later
	taken  map[uint64][]tallyring.Decision

	allowed, denied, late, refunded, expired, saturated int
}

func newScript(t *testing.T, c Config, keys []uint64, start int64, choose chooser) *script {
	table, err := New(c)
	require.NoError(t, err)
	return &script{
		t: t, table: table, model: newModel(c.Window, table.MaxLimit()), choose: choose,
		keys: keys, spare: c.Keys, latest: start, end: start + 10*year,
		taken: map[uint64][]tallyring.Decision{},
	}
}

// gaps returns the steps of time that a script takes: those of rule S8, and to the edges of
// buckets.
func (s *script) gaps() []int64 {
	length, width := int64(s.model.window.Length()), int64(s.model.window.Width)
	toEdge := width - s.latest%width
	ring := width * int64(s.model.window.Slots)
	return []int64{
		0, 0, 0, 1, 1, width / 7, width / 3, toEdge - 1, toEdge, toEdge + 1, width, width + 1,
		length - 1, length, length + 1, 2 * length, ring - 1, ring, ring + toEdge,
		10 * hour, 10 * year,
	}
}

// pick returns a key and a tick for it.
func (s *script) pick() (uint64, tallyring.Tick) {
	gaps := s.gaps()
	n := len(gaps)
	if s.choose.below(50) > 0 {
		n -= 2 // long gaps are rare
	}
	if s.choose.below(3) == 0 {
		if gap := gaps[s.choose.below(n)]; s.latest <= s.end-gap {
			s.latest += gap
		}
	}
	key := s.keys[s.choose.below(len(s.keys))]
	if s.model.ring(key).used && !s.model.live(key, tallyring.Tick(s.latest)) {
		s.expired++
	}
	if s.choose.below(4) > 0 || !s.maybeLate(key) {
		return key, tallyring.Tick(s.latest)
	}
	s.late++
	back := gaps[s.choose.below(len(gaps)-2)]
	return key, tallyring.Tick(s.latest - back)
}

// maybeLate tells whether a late tick of key has one right answer.
func (s *script) maybeLate(key uint64) bool {
	latest := tallyring.Tick(s.latest)
	if s.model.ring(key).used {
		// A ring that was refunded to 0 in bucket 0 of the range is as new, and knows no newest.
		return s.model.live(key, latest) && !(s.wraps && s.model.empty(key, latest))
	}
	// Its cell is a free one, at any tick, but once a key has lost its cell a late tick may be
	// before the bucket in which a new key begins.
	return len(s.keys) <= s.spare && s.table.horizon.Load() == 0
}

// fits tells whether the table has promised a cell for key now.
func (s *script) fits(key uint64) bool {
	latest := tallyring.Tick(s.latest)
	if len(s.keys) <= s.spare {
		return true
	}
	return s.model.live(key, latest) || s.model.liveKeys(latest) < s.spare
}

func (s *script) limit() uint64 {
	held := s.table.MaxLimit()
	limits := []uint64{0, 1, 2, 3, 10, 25, 100, held / 2, held - 1, held, held + 1,
		math.MaxUint64 - 1, tallyring.Unlimited, tallyring.Unlimited}
	return limits[s.choose.below(len(limits))]
}

func (s *script) cost(limit uint64) uint64 {
	costs := []uint64{0, 1, 1, 1, 2, 3, 7, limit / 3, limit / 2, limit, limit - 1, limit + 1,
		s.table.MaxLimit(), s.table.MaxLimit() + 1, 1 << 63, math.MaxUint64}
	return costs[s.choose.below(len(costs))]
}

// run plays the script to its end.
func (s *script) run() {
	for s.choose.more() {
		key, now := s.pick()
		if !s.fits(key) {
			continue
		}
		limit := s.limit()
		cost := s.cost(limit)
		switch s.choose.below(8) {
		case 0, 1, 2:
			want := s.model.allow(key, now, cost, limit)
			got := s.table.Allow(key, now, cost, limit)
			if got != want {
				s.fail("Allow(%#x, %d, %d, %d) is %v, want %v", key, now, cost, limit, got, want)
			}
			s.note(got)
		case 3, 4:
			s.take(key, now, cost, limit)
		case 5, 6:
			s.read(key, now)
		case 7:
			s.refund(key, now, cost)
		}
	}
	stats := s.table.Stats(tallyring.Tick(s.latest))
	if stats.Refused != 0 {
		s.fail("%d events refused though every key fits", stats.Refused)
	}
}

func (s *script) note(allowed bool) {
	if allowed {
		s.allowed++
	} else {
		s.denied++
	}
}

func (s *script) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Logf("window %+v, max limit %d", s.model.window, s.table.MaxLimit())
	s.t.Fatalf(format, args...)
}

func (s *script) take(key uint64, now tallyring.Tick, cost, limit uint64) {
	s.t.Helper()
	at := s.model.at(key, now)
	allowed := s.model.allow(key, now, cost, limit)
	d := s.table.Take(key, now, cost, limit)
	remaining := s.model.remaining(key, now, limit)
	if d.Allowed != allowed || d.Limit != s.model.decides(limit) || d.At != at ||
		d.Remaining != remaining {
		s.fail("Take(%#x, %d, %d, %d) is %+v, want allowed %v, limit %d, at %d, remaining %d",
			key, now, cost, limit, d, allowed, s.model.decides(limit), at, remaining)
	}
	s.note(d.Allowed)
	if wrong := s.wrongWait(key, now, cost, limit, d); wrong != "" {
		s.fail("Take(%#x, %d, %d, %d) is %+v: %s", key, now, cost, limit, d, wrong)
	}
	if d.Allowed && cost > 0 {
		s.taken[key] = append(s.taken[key], d)
	}
}

// wrongWait says what is wrong with the waits of d, which was just decided (rule S15).
func (s *script) wrongWait(
	key uint64, now tallyring.Tick, cost, limit uint64, d tallyring.Decision,
) string {
	now = max(now, 0)
	admits := func(wait time.Duration) bool {
		return s.model.admits(key, now+tallyring.Tick(wait), cost, limit)
	}
	empty := func(wait time.Duration) bool { return s.model.empty(key, now+tallyring.Tick(wait)) }
	switch {
	case d.Allowed && d.RetryAfter != 0:
		return "a wait though it was allowed"
	case d.Allowed:
	case s.model.never(cost, limit):
		if d.RetryAfter != tallyring.Never {
			return "a finite wait for what can never pass"
		}
	case d.RetryAfter <= 0 || d.RetryAfter == tallyring.Never:
		return "no finite wait though the window will empty"
	case !admits(d.RetryAfter):
		return "still denied after the wait"
	case admits(d.RetryAfter - 1):
		return "admitted before the wait was over"
	}
	switch {
	case d.ResetAfter < 0 || !empty(d.ResetAfter):
		return "not empty after the reset"
	case d.ResetAfter > 0 && empty(d.ResetAfter-1):
		return "empty before the reset"
	}
	return ""
}

func (s *script) read(key uint64, now tallyring.Tick) {
	s.t.Helper()
	r, want := s.table.Read(key, now), s.model.weigh(key, now)
	exact := s.model.estimate(key, now)
	if r.Low != want.low || r.High != want.high || !near(r.Estimate, exact) {
		s.fail("Read(%#x, %d) is %+v, want low %d, estimate %s, high %d",
			key, now, r, want.low, exact.FloatString(9), want.high)
	}
	if want.over {
		s.saturated++
	}
}

// near tells whether f is within a few units in the last place of an exact value.
func near(f float64, exact *big.Rat) bool {
	got := new(big.Rat).SetFloat64(f)
	if got == nil {
		return false
	}
	bound := new(big.Rat).Mul(exact, big.NewRat(1, 1<<50))
	return new(big.Rat).Abs(got.Sub(got, exact)).Cmp(bound) <= 0
}

// refund takes back what a Take has counted, or what nobody has.
func (s *script) refund(key uint64, now tallyring.Tick, count uint64) {
	at := now
	if taken := s.taken[key]; len(taken) > 0 && s.choose.below(4) > 0 {
		at = taken[len(taken)-1-s.choose.below(min(len(taken), 8))].At
		s.refunded++
	}
	s.model.refund(key, at, count)
	s.table.Refund(key, at, count)
	s.read(key, max(now, tallyring.Tick(s.latest)))
}
