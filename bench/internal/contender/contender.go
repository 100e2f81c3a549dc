package contender

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// Span is the window of every contender, its period, or the time in which its bucket fills.
const Span = time.Minute

// Start is the tick of the first event. It lies as far from 0 as that of a process which has run
// for some time.
const Start = tallyring.Tick(1000 * Span)

// Events are decisions in a row: Count of them, the first at From, each next one Step later.
type Events struct {
	From, Step tallyring.Tick
	Count      int
}

// Single decides on events of one limit. Any number of goroutines may do so at once.
type Single interface {
	// Decide returns how many of the events were allowed.
	Decide(e Events) (allowed int)
}

// Keyed decides on events of many keys, all under the same limit. Any number of goroutines may do
// so at once.
type Keyed interface {
	// Decide decides on one event of each key, at now, and returns how many were allowed.
	Decide(keys []string, now tallyring.Tick) (allowed int)
}

// Hashed is Keyed for keys that were hashed before. They have the engine's type, so that none is
// converted while it is timed.
type Hashed interface {
	Decide(keys []limiter.Key, now tallyring.Tick) (allowed int)
}

// Limit says how often one key may pass in Span.
type Limit uint64

const (
	// Plenty is a limit that no measured key reaches in one Span of given ticks. It is the most
	// that the usual cell of the engine's table is asked for.
	Plenty Limit = 1 << 18

	// Boundless is a limit that no run reaches at one tick. The engine's cells cannot hold it.
	Boundless Limit = 1 << 40

	// Few is the limit of workloads whose events are denied.
	Few Limit = 100

	// longSpan stands for Span where a contender reads the clock itself, so that a run that is
	// denied is not let through halfway.
	longSpan = 24 * time.Hour
)

// ofClock returns the limit for a contender that reads the clock itself, and so sees all events of
// a run in one Span.
func (l Limit) ofClock() int64 {
	if l == Plenty {
		return int64(Boundless)
	}
	return int64(l)
}

// Info says what a contender is.
type Info struct {
	Name   string // as in benchmark names: no spaces, slashes or equal signs
	Module string // path and version; empty for what stands in this repository
	Kind   Kind
	Clock  bool   // whether it reads a clock on each decision
	Note   string // what a reader of its figures should know, in half a sentence
}

// Kind says why a contender is measured.
type Kind int

const (
	Engine   Kind = iota // this repository's engine
	Peer                 // a module that people use for the job
	Baseline             // a design without a module to fetch, in its simplest form
	Floor                // no limiter: what none can beat
)

// String returns the kind as one word.
func (k Kind) String() string {
	return [...]string{"engine", "peer", "baseline", "floor"}[k]
}

// SingleMaker makes a contender without keys.
type SingleMaker struct {
	Info
	Make func(Limit) (Single, error)

	// Polite is set where the contender never denies: it makes its callers wait.
	Polite bool

	// Serial is set where goroutines cannot share it fairly: its clock is set by hand.
	Serial bool

	// DeniesLate is set where an event whose tick is late is denied. Goroutines at once cannot keep
	// their ticks in order, so there it is given one tick for all, and the limit Boundless.
	DeniesLate bool
}

// KeyedMaker makes a contender for a number of keys.
type KeyedMaker struct {
	Info
	Make func(keys int, limit Limit) (Keyed, error)
}

// HashedMaker makes a contender for a number of keys that are hashes.
type HashedMaker struct {
	Info
	Make func(keys int, limit Limit) (Hashed, error)
}

// origin is the time that stands for tick 0 where a contender wants a time.Time.
var origin = time.Unix(1_700_000_000, 0)

// at returns the time that stands for a tick.
func at(now tallyring.Tick) time.Time { return origin.Add(time.Duration(now)) }

// handClock is the clock of contenders that take a clock instead of a time. Its Sleep counts.
type handClock struct {
	tallyring.ManualClock
	slept int
}

func (c *handClock) Now() time.Time { return at(c.ManualClock.Now()) }

// Sleep does not: whoever calls it would have made its caller wait.
func (c *handClock) Sleep(time.Duration) { c.slept++ }
