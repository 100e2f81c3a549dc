package main

import (
	"fmt"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// keyed decides on events of many keys; a key is any number.
type keyed interface {
	// ask decides on an event of cost 1 of each key.
	ask(keys []uint64, now tallyring.Tick, limit uint64, allowed []bool)
	take(key uint64, now tallyring.Tick, limit uint64) tallyring.Decision
	read(key uint64, now tallyring.Tick) tallyring.Reading
	state(now tallyring.Tick) keyedState
	bytes() int
}

// keyedState is what a structure of many keys says of itself.
type keyedState struct {
	cells, live        uint64
	takenOver, refused uint64
}

const (
	churnAsks  = 8 // how often each key of a round is asked for, by as many calls of storm
	churnLimit = 3 // and how many of these must pass
)

// churnLoad asks for keys that are new in each round. Whole blocks of keys are handed to several
// goroutines one after the other, so that they insert the same keys at about the same time. The
// window is strict or a log and longer than a storm, so of each key exactly the limit must pass.
//
// While the keys of earlier rounds leave no room, the last ones are asked for again, and are at
// their limit; or nothing is asked, where they would leave the window during the storm.
type churnLoad struct {
	*desk
	shape
	noFill
	of   keyed
	keys int // that may count at one time
	next uint64

	sets   []keySet // those that may still count; the last one is asked for
	idle   bool
	cursor atomic.Int64 // calls of storm in this round
	asked  []uint8      // by block: how often its keys were asked for before this round
	held   []uint8      // by key: how many of its events were admitted before this round
	passed [][]uint8    // by worker and key: in this round
	state  keyedState   // when it was last looked at, which visits every cell
	ghosts ghosts
}

// keySet is the keys of one round, between which ticks they were counted, and how many of them,
// from the first on, have spent their limit.
type keySet struct {
	first    uint64
	from, to tallyring.Tick
	spent    uint64
}

// newChurnLoad makes a load of so many calls of storm in a round, on keys from first on. Keys must
// be at least as many as one round asks for.
func newChurnLoad(d *desk, s shape, keys, calls int, first uint64, of keyed) *churnLoad {
	blocks := max(calls/churnAsks, 1)
	l := &churnLoad{desk: d, shape: s, of: of, keys: keys, next: first,
		asked: make([]uint8, blocks), held: make([]uint8, blocks*batch)}
	for range d.tallies {
		l.passed = append(l.passed, make([]uint8, blocks*batch))
	}
	return l
}

func (l *churnLoad) bytes() int     { return l.of.bytes() }
func (l *churnLoad) bookBytes() int { return (len(l.passed)+1)*len(l.held) + len(l.asked) }

// begin chooses the keys of the round.
func (l *churnLoad) begin(r *round) error {
	from, to := r.span()
	for len(l.sets) > 0 && l.leaves(l.sets[0].to) <= from {
		l.ghosts.keySet = l.sets[0]
		l.sets = l.sets[1:]
	}
	l.ghosts.begin(l.shape, r)
	l.cursor.Store(0)
	if (len(l.sets)+1)*len(l.held) <= l.keys {
		l.sets = append(l.sets, keySet{first: l.next, from: from, to: to})
		l.next += uint64(len(l.held))
		clear(l.asked)
		clear(l.held)
		l.idle = false
		return nil
	}
	current := &l.sets[len(l.sets)-1]
	if l.idle = l.leaves(current.from) <= to; !l.idle {
		current.to = to
	}
	return nil
}

// storm takes one block of keys and asks once for each of them.
func (l *churnLoad) storm(w *worker) {
	l.haunt(w)
	block := int(l.cursor.Add(1)-1) / churnAsks
	if l.idle || block >= len(l.asked) {
		return
	}
	t, now, first := l.tallies[w.id], w.now(), block*batch
	var keys [batch]uint64
	var allowed [batch]bool
	for i := range keys {
		keys[i] = mixed(l.sets[len(l.sets)-1].first + uint64(first+i))
	}
	begin := 0
	if t.due(w.random, batch) {
		began := w.watch.nanos()
		l.of.ask(keys[:1], now, churnLimit, allowed[:1])
		t.took(w.watch.nanos() - began)
		begin = 1
	}
	l.of.ask(keys[begin:], now, churnLimit, allowed[begin:])
	t.decisions += batch
	for i, passed := range allowed {
		l.passed[w.id][first+i] += uint8(one(passed))
		t.admitted += one(passed)
		t.late += one(passed && w.lag > 0)
	}
}

// settle checks each key of the round.
func (l *churnLoad) settle(r *round, now tallyring.Tick) error {
	if r.number%8 == 7 {
		l.evidence.note(&l.state, l.of.state(now))
	}
	calls := min(int(l.cursor.Load()), len(l.asked)*churnAsks)
	if l.idle {
		calls = 0
	}
	for block := range l.asked {
		l.asked[block] += uint8(min(max(calls-block*churnAsks, 0), churnAsks))
	}
	if l.idle {
		return nil
	}
	set := &l.sets[len(l.sets)-1]
	set.spent = 0
	for set.spent < uint64(len(l.held)) && l.asked[set.spent/batch] >= churnLimit {
		set.spent += batch
	}
	for i := range l.held {
		takers := uint64(0)
		for _, passed := range l.passed {
			l.held[i] += passed[i]
			takers += one(passed[i] > 0)
			passed[i] = 0
		}
		l.evidence.met += one(takers > 1)
		want := min(l.asked[i/batch], churnLimit)
		if l.held[i] != want {
			return fmt.Errorf("key %d was asked for %d times and let %d pass, want exactly %d",
				set.first+uint64(i), l.asked[i/batch], l.held[i], want)
		}
		if held := l.of.read(mixed(set.first+uint64(i)), now).High; held != uint64(want) {
			return fmt.Errorf("key %d reads %d, want the %d that passed",
				set.first+uint64(i), held, want)
		}
	}
	return nil
}

// mixed returns a number that looks like a hash; different numbers give different ones. The
// constants are those of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number
// Generators, 2014), whose every step can be undone.
func mixed(number uint64) uint64 {
	z := number + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
