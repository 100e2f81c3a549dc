package contender

import (
	"time"

	"github.com/tallyring/tallyring"
)

// Span is the window of every contender, its period, or the time in which its bucket fills.
const Span = time.Minute

// Start is the tick of the first event. It lies as far from 0 as that of a process which has run
// for some time.
const Start = tallyring.Tick(1000 * Span)

// Events are decisions in a row: count of them, the first at From, each next one Step later.
type Events struct {
	From, Step tallyring.Tick
	Count      int
}

// Single decides on events of one limit.
type Single interface {
	// Decide returns how many of the events were allowed.
	Decide(e Events) (allowed int)
}

// Keyed decides on events of many keys, all under the same limit.
type Keyed interface {
	// Decide decides on one event of each key, at now, and returns how many were allowed.
	Decide(keys []string, now tallyring.Tick) (allowed int)
}

// Hashed is Keyed for keys that were hashed before.
type Hashed interface {
	Decide(keys []uint64, now tallyring.Tick) (allowed int)
}

// Limit says how often one key may pass. A contender's counters are as wide as it needs them to be.
type Limit uint64

const (
	// Plenty is a limit that no measured key reaches in one span of given ticks. It is the most
	// that the usual cell of the engine's table is asked for.
	Plenty Limit = 1 << 18

	// Endless is Plenty for contenders that read the clock themselves, and so see all events of a
	// run in one span.
	Endless Limit = 1 << 40

	// Few is the limit of workloads whose events are denied.
	Few Limit = 100
)

// Info says what a contender is.
type Info struct {
	Name   string // as in benchmark names: no spaces, slashes or equal signs
	Module string // path and version; empty for what stands in this repository
	Clock  bool   // whether it reads a clock on each decision
	Floor  bool   // whether it is no limiter but a bound for them
	Ours   bool   // whether it is the engine
	Note   string // what a reader of its figures should know, in half a sentence
}
