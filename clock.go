package tallyring

import (
	"time"
)

// Clock gives ticks. Now may be called from any number of goroutines, and a call that begins after
// another has ended never returns an earlier tick, except where a clock says otherwise.
type Clock interface {
	Now() Tick
}

// origin is tick 0 of Monotonic. It lies one second back so that no tick of this process is 0.
var origin = time.Now().Add(-time.Second)

// Monotonic returns the clock that reads the system's monotonic clock on each call. Its origin is
// about the start of the process; it is never set back, and its resolution is the system's
// (nanoseconds on Linux, 100 ns or coarser on Windows).
func Monotonic() Clock { return monotonic{} }

type monotonic struct{}

func (monotonic) Now() Tick { return Tick(time.Since(origin)) }

// Alarm is a clock that can call back. CallAt calls f once the clock has come to due, in a
// goroutine of its own choice, unless stop is called before; stop reports whether it came in time.
// CallAt itself never calls f: its caller may hold a lock that f takes. If Now is before due once
// CallAt has returned, f will be called as soon as it no longer is.
type Alarm interface {
	Clock
	CallAt(due Tick, f func()) (stop func() bool)
}
