package main

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

const (
	ghostAsks   = 64 // events of ghosts in a round
	ghostRounds = 4  // of which so many may count at one time
	ghostRoom   = ghostAsks * ghostRounds
)

// ghosts are keys that have spent their limit and whose window has passed, so that other keys have
// taken their cells; and which come back by a tick at which it had not passed. They must be denied,
// or counted where what they have spent counts no more.
type ghosts struct {
	keySet
	rounds []tallyring.Tick // the end of each round whose ghosts may still count
	asked  atomic.Int64     // in this round
	awake  bool             // in this round
}

// begin wakes the ghosts of a round, if there are any and there is room for them.
func (g *ghosts) begin(s shape, r *round) {
	from, to := r.span()
	for len(g.rounds) > 0 && s.leaves(g.rounds[0]) <= from {
		g.rounds = g.rounds[1:]
	}
	g.asked.Store(0)
	if g.awake = g.spent > 0 && len(g.rounds) < ghostRounds; g.awake {
		g.rounds = append(g.rounds, to)
	}
}

// haunt asks for one ghost.
func (l *churnLoad) haunt(w *worker) {
	g := &l.ghosts
	if !g.awake || g.asked.Add(1) > ghostAsks {
		return
	}
	gone := l.leaves(g.from)
	number := g.first + w.random.Uint64N(g.spent)
	d := l.of.take(mixed(number), gone-1, churnLimit)
	if d.Allowed && d.At < gone {
		w.referee.fault(l.structure, "key %d has spent its limit, comes back at tick %d, and is "+
			"counted at %d, want no earlier than %d", number, gone-1, d.At, gone)
	}
	t := l.tallies[w.id]
	t.decisions++
	t.admitted += one(d.Allowed)
	t.ghosts++
}
