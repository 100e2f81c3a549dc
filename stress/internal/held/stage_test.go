package held

import (
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// patience is how many points a goroutine may pass before it is taken to go round in circles. No
// operation here passes a hundred while the others stand still.
const patience = 10_000

// stage is where goroutines take turns: one runs at a time, from one point to another, and the test
// says which. So every run of a test is the same.
type stage struct {
	testing.TB
	running *actor // nil while the test itself runs, which is never held
	cast    []*actor
}

// actor is a goroutine that goes on only when it is told to.
type actor struct {
	stage *stage
	name  string
	seat  int // what Pin returns to it
	next  func() (tallyring.Point, bool)
	stop  func() // for one that has not begun
	yield func(tallyring.Point) bool

	begun, done bool
	at          tallyring.Point       // where it stands, if it has begun and is not done
	passed      [tallyring.Points]int // how often it has come to each point
}

// newStage makes points hold goroutines until the test ends.
func newStage(t testing.TB) *stage {
	s := &stage{TB: t}
	tallyring.Watch(s.come, s.seat)
	t.Cleanup(func() {
		s.leave()
		tallyring.Watch(nil, nil)
	})
	return s
}

// come is called by whoever runs when it comes to a point.
func (s *stage) come(p tallyring.Point) {
	if a := s.running; a != nil {
		a.yield(p)
	}
}

func (s *stage) seat() int {
	if s.running == nil {
		return 0
	}
	return s.running.seat
}

// leave lets everyone who is held yet run to the end, in turns, and drops who has not begun, so
// that no goroutine is left.
func (s *stage) leave() {
	for range patience {
		s.cast = slices.DeleteFunc(s.cast, func(a *actor) bool {
			if !a.begun {
				a.stop()
				return true
			}
			if !a.done {
				a.step()
			}
			return a.done
		})
		if len(s.cast) == 0 {
			return
		}
	}
	s.Fatal("somebody goes round in circles")
}

// actor returns a goroutine that will do something, and has not begun.
func (s *stage) actor(name string, do func()) *actor { return s.seated(0, name, do) }

// seated is actor for a goroutine on the P of an id.
func (s *stage) seated(seat int, name string, do func()) *actor {
	a := &actor{stage: s, name: name, seat: seat}
	a.next, a.stop = iter.Pull(func(yield func(tallyring.Point) bool) {
		a.yield = yield
		do()
	})
	s.cast = append(s.cast, a)
	return a
}

// step lets the actor go on to the next point, or to its end.
func (a *actor) step() {
	a.stage.Helper()
	require.False(a.stage, a.done, "%s has ended", a.name)
	a.stage.running = a
	p, ok := a.next()
	a.stage.running = nil
	a.begun = true
	if !ok {
		a.done = true
		return
	}
	a.at = p
	a.passed[p]++
}

// to lets the actor go on until it stands at a point, the next time that it comes there.
func (a *actor) to(p tallyring.Point) *actor {
	a.stage.Helper()
	for range patience {
		a.step()
		if a.done {
			require.FailNow(a.stage, "it never came to the point", "%s: %v, passed %v",
				a.name, name(p), a.way())
		}
		if a.at == p {
			stops[p]++
			return a
		}
	}
	require.FailNow(a.stage, "it goes round in circles", "%s: %v", a.name, a.way())
	return a
}

// end lets the actor go on to its end, which must come while all others stand still.
func (a *actor) end() {
	a.stage.Helper()
	for range patience {
		if a.done {
			return
		}
		a.step()
	}
	require.FailNow(a.stage, "it goes round in circles while others stand still", "%s: %v",
		a.name, a.way())
}

// wakes lets the actor go on past the point at which it stands, to its next one or its end, and
// checks that what it does there changes nothing that look shows.
func (a *actor) wakes(look func() any) {
	a.stage.Helper()
	before := look()
	at := a.at
	a.step()
	require.Equal(a.stage, before, look(), "%s changed something after %v", a.name, name(at))
}

// way returns which points the actor has come to, and how often.
func (a *actor) way() map[string]int {
	way := map[string]int{}
	for p, times := range a.passed {
		if times > 0 {
			way[name(tallyring.Point(p))] = times
		}
	}
	return way
}

// run has something done while all others stand still: progress, whoever is held.
func (s *stage) run(do func()) *actor {
	s.Helper()
	return s.runAt(0, do)
}

// runAt is run on the P of an id.
func (s *stage) runAt(seat int, do func()) *actor {
	s.Helper()
	a := s.seated(seat, "another", do)
	a.end()
	return a
}
