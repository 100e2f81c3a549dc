package table

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// overflow decides on the events of all keys that find no cell.
type overflow interface {
	Allow(now tallyring.Tick, cost, limit uint64) bool
	Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision
	Refund(at tallyring.Tick, count uint64)
	Bytes() int
}

func newOverflow(c Config, limit uint64) (overflow, error) {
	if c.Cells == nil {
		return atomicring.NewFor(c.Window, limit)
	}
	word := &tallyring.Words(tallyring.NewLines(overflowLines))[0]
	return sharedWord{word, c.Cells}, nil
}

// overflowLines keep the word apart from what others write.
const overflowLines = tallyring.PadBytes / tallyring.LineBytes

// sharedWord is a word that holds what the cells hold. An attempt to change it is repeated only
// when another event was counted in between.
type sharedWord struct {
	word *atomic.Uint64
	Transition
}

func (s sharedWord) Allow(now tallyring.Tick, cost, limit uint64) bool {
	for {
		word := s.word.Load()
		next, allowed := s.Next(word, now, cost, limit)
		if next == word || s.word.CompareAndSwap(word, next) {
			return allowed
		}
	}
}

func (s sharedWord) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	for {
		word := s.word.Load()
		next, d := s.Transition.Take(word, now, cost, limit)
		if next == word || s.word.CompareAndSwap(word, next) {
			return d
		}
	}
}

func (s sharedWord) Refund(at tallyring.Tick, count uint64) {
	for {
		word := s.word.Load()
		next := s.Transition.Refund(word, at, count)
		if next == word || s.word.CompareAndSwap(word, next) {
			return
		}
	}
}

func (s sharedWord) Bytes() int { return overflowLines * tallyring.LineBytes }
