package litmus

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/limiter"
	"github.com/tallyring/tallyring/pertcore"
	"github.com/tallyring/tallyring/stress/internal/crowd"
	"github.com/tallyring/tallyring/table"
)

// Goal: a reading lies between the events that had ended when it began and those that had begun
// when it ended. Method: adders count what they begin and what they have ended, each on lines of
// its own, while others read; ticks walk over as many buckets as the window has, so that nothing
// leaves.

// counter is something that counts events and is read.
type counter struct {
	add  func(now tallyring.Tick) bool
	read func(now tallyring.Tick) tallyring.Reading
}

// counters are all that count, each for a window.
var counters = []struct {
	name string
	make func(t testing.TB, w tallyring.Window) counter
}{
	{"atomicring.Ring.Add", func(t testing.TB, w tallyring.Window) counter {
		r, err := atomicring.New(w)
		require.NoError(t, err)
		return counter{func(now tallyring.Tick) bool { return r.Add(now, 1) }, r.Read}
	}},
	{"atomicring.Ring.Allow", func(t testing.TB, w tallyring.Window) counter {
		r, err := atomicring.New(w)
		require.NoError(t, err)
		return counter{
			func(now tallyring.Tick) bool { return r.Allow(now, 1, tallyring.Unlimited) }, r.Read}
	}},
	{"pertcore.Counter", func(t testing.TB, w tallyring.Window) counter {
		c, err := pertcore.NewCounter(w)
		require.NoError(t, err)
		return counter{func(now tallyring.Tick) bool { return c.Add(now, 1) }, c.Read}
	}},
	{"pertcore.Limiter, shared mode", func(t testing.TB, w tallyring.Window) counter {
		l, err := pertcore.NewLimiter(w, tallyring.Unlimited)
		require.NoError(t, err)
		return counter{func(now tallyring.Tick) bool { return l.Allow(now, 1) }, l.Read}
	}},
	{"pertcore.Limiter, many generations", func(t testing.TB, w tallyring.Window) counter {
		l, err := pertcore.NewLimiter(w, adders*each)
		require.NoError(t, err)
		return counter{func(now tallyring.Tick) bool { return l.Allow(now, 1) }, l.Read}
	}},
	{"table.Table", func(t testing.TB, w tallyring.Window) counter {
		made, err := table.New(table.Config{Window: w, Keys: 4})
		require.NoError(t, err)
		return counter{
			func(now tallyring.Tick) bool { return made.Allow(mine, now, 1, tallyring.Unlimited) },
			func(now tallyring.Tick) tallyring.Reading { return made.Read(mine, now) }}
	}},
	{"limiter.Limiter", func(t testing.TB, w tallyring.Window) counter {
		options := []limiter.Option{limiter.WithKeys(4), limiter.WithResolution(w.Width)}
		if w.Slots == 1 {
			options = []limiter.Option{limiter.WithKeys(4), limiter.WithFixedWindow()}
		}
		l, err := limiter.New(tallyring.Unlimited, w.Length(), options...)
		require.NoError(t, err)
		return counter{
			func(now tallyring.Tick) bool { return l.AllowAt("key", now, 1) },
			func(now tallyring.Tick) tallyring.Reading { return l.PeekAt("key", now) }}
	}},
}

const (
	adders = 3    // the last member reads
	each   = 1000 // events of one adder in one bout
	bouts  = 40   // at most
)

// progress is what one adder has begun and ended, on lines of its own.
type progress struct {
	begun, ended atomic.Uint64
	_            [tallyring.PadBytes - 16]byte // keeps the next adder's away
}

// evidence tells how often a reading was put to the test.
type evidence struct {
	readings  int
	inFlight  int // events had begun and not ended while it ran
	aboveLow  int // it saw some that had not ended when it began
	belowHigh int // it did not see some that had begun when it ended
}

func (e evidence) enough() bool { return e.inFlight > 0 && e.aboveLow > 0 && e.belowHigh > 0 }

// TestReadingsLieWithin runs bouts of adders and a reader, under each setting of GOMAXPROCS, until
// readings have met events that were under way, in both directions.
func TestReadingsLieWithin(t *testing.T) {
	for _, kind := range counters {
		for _, slots := range []int{1, 2, 7} {
			w := tallyring.Window{Slots: slots, Width: width}
			for _, setting := range settings {
				name := fmt.Sprintf("%s, %d slots, GOMAXPROCS %d", kind.name, slots, setting)
				if setting == changing {
					name = fmt.Sprintf("%s, %d slots, GOMAXPROCS changing", kind.name, slots)
				}
				var seen evidence
				for bout := 0; bout < bouts && !seen.enough(); bout++ {
					under(setting, func() {
						require.Empty(t, seen.bout(kind.make(t, w), w), name)
					})
				}
				require.True(t, seen.enough(), "%s: no reading met an event: %+v", name, seen)
			}
		}
	}
}

// bout lets adders at one counter, and reads it until they are done and once more. It says what was
// wrong last, if anything.
func (e *evidence) bout(c counter, w tallyring.Window) string {
	var progress [adders]progress
	var clock atomic.Int64 // events so far, of all adders
	var wrong atomic.Pointer[string]
	now := func() tallyring.Tick {
		part := min(clock.Load(), adders*each-1)
		return end + tallyring.Tick(part*int64(w.Slots)*int64(width)/(adders*each))
	}
	crowd.Meet(adders+1, 1, func(member, _ int) {
		if member < adders {
			mine := &progress[member]
			for i := range each {
				mine.begun.Add(1)
				if i%8 == member {
					runtime.Gosched()
				}
				if !c.add(now()) {
					text := "an event was not counted"
					wrong.Store(&text)
				}
				mine.ended.Add(1)
				clock.Add(1)
			}
			return
		}
		for done := false; !done; {
			done = clock.Load() == adders*each
			if text := e.look(c, progress[:], now()); text != "" {
				wrong.Store(&text)
			}
		}
	})
	if text := wrong.Load(); text != nil {
		return *text
	}
	if high := c.read(now()).High; high != adders*each {
		return fmt.Sprintf("at rest %d are counted, want %d", high, adders*each)
	}
	return ""
}

// look takes one reading and says what is wrong with it. All events are in the window, so its upper
// bound counts each.
func (e *evidence) look(c counter, progress []progress, now tallyring.Tick) string {
	var ended, begun uint64
	for i := range progress {
		ended += progress[i].ended.Load()
	}
	if e.readings%2 == 0 {
		runtime.Gosched()
	}
	got := c.read(now)
	if e.readings%3 == 0 {
		runtime.Gosched()
	}
	for i := range progress {
		begun += progress[i].begun.Load()
	}
	e.readings++
	if ended < begun {
		e.inFlight++
	}
	if ended < got.High {
		e.aboveLow++
	}
	if got.High < begun {
		e.belowHigh++
	}
	if ended <= got.High && got.High <= begun && got.Low <= got.High {
		return ""
	}
	return fmt.Sprintf("read %s, want %d to %d", counts(got), ended, begun)
}
