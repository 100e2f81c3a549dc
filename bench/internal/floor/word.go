package floor

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// Word is one counter on lines of its own.
type Word struct {
	word *atomic.Uint64
}

// NewWord returns a counter that shares no line, nor the line beside it, with another.
func NewWord() Word {
	lines := tallyring.NewLines(tallyring.PadBytes / tallyring.LineBytes)
	return Word{&tallyring.Words(lines)[0]}
}

// Count returns what was counted.
func (w Word) Count() uint64 { return w.word.Load() }

// Add adds 1 to the word, n times, and returns n.
func (w Word) Add(n int) int {
	word := w.word
	for range n {
		word.Add(1)
	}
	return n
}

// CAS loads the word and stores one more by a compare-and-swap, n times, and returns how often that
// succeeded. One goroutine alone always succeeds.
func (w Word) CAS(n int) (stored int) {
	word := w.word
	for range n {
		old := word.Load()
		if word.CompareAndSwap(old, old+1) {
			stored++
		}
	}
	return stored
}

// CASUntilStored is CAS where each of the n steps is repeated until it succeeds, as a decision that
// may not be lost has to. It returns n.
func (w Word) CASUntilStored(n int) int {
	word := w.word
	for range n {
		for {
			old := word.Load()
			if word.CompareAndSwap(old, old+1) {
				break
			}
		}
	}
	return n
}
