package held

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// choice is which actor went on at one step of a schedule, of how many that could have.
type choice struct{ taken, of int }

// explore plays every schedule of a scene in which at most so many times an actor is left at a
// point while another goes on. (Going on after another's end is free.) The scene is built anew
// each time, and what build returns looks at how it ended. It returns how many schedules there are.
func (s *stage) explore(switches int, build func() (check func())) (schedules int) {
	var path []choice
	defer func() {
		if s.Failed() {
			s.Logf("after %d schedules, in this one: %v", schedules, path)
		}
	}()
	for {
		check := build()
		path = s.play(path, switches)
		check()
		s.leave()
		schedules++
		for len(path) > 0 && path[len(path)-1].taken+1 == path[len(path)-1].of {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return schedules
		}
		path[len(path)-1].taken++
	}
}

// play goes the way that path begins, and then with the first actor that can go on. It returns the
// whole way.
func (s *stage) play(path []choice, switches int) []choice {
	var last *actor
	for depth := range patience {
		open := s.open(last, switches)
		if len(open) == 0 {
			return path
		}
		if depth == len(path) {
			path = append(path, choice{0, len(open)})
		}
		goes := open[path[depth].taken]
		if last != nil && !last.done && last != goes && !last.waits() {
			switches--
		}
		goes.step()
		last = goes
	}
	require.FailNow(s, "a schedule has no end")
	return nil
}

// open returns who can go on: the last one first, who stays alone where no switches are left.
func (s *stage) open(last *actor, switches int) (open []*actor) {
	if last != nil && !last.done && !last.waits() {
		open = append(open, last)
		if switches == 0 {
			return open
		}
	}
	for _, a := range s.cast {
		if a != last && !a.done && !a.waits() {
			open = append(open, a)
		}
	}
	return open
}

// waits tells whether the actor is about to look again at a pair that another one has latched,
// which it would do for ever.
func (a *actor) waits() bool {
	return a.begun && a.at == tallyring.PairWait &&
		slices.ContainsFunc(a.stage.cast, func(other *actor) bool {
			return other.begun && !other.done && other.at == tallyring.PairHeld
		})
}

// TestExploreFindsAFault shows that exploration can fail: on a counter of one limit that loads,
// comes to a point, and stores, and on one that checks and then adds; and that the schedules of two
// actors of two points each, with switches without bound, are all there are.
func TestExploreFindsAFault(t *testing.T) {
	s := newStage(t)
	lost, schedules := 0, 0
	for switches := range 3 {
		lost = 0
		schedules = s.explore(switches, func() func() {
			count := 0
			for i := range 2 {
				s.actor(fmt.Sprint(i), func() {
					before := count
					tallyring.AtPoint(tallyring.RingCount)
					count = before + 1
				})
			}
			return func() {
				if count != 2 {
					lost++
				}
			}
		})
		require.Equal(t, switches > 0, lost > 0)
	}
	// Each actor has two steps, so there are 4!/(2!*2!) orders.
	require.Equal(t, [2]int{6, 4}, [2]int{schedules, lost})
}
