package floor

import (
	"math/bits"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// Lines is a table without keys, probes, windows or limits: a hash picks a line, and its first word
// counts.
type Lines struct {
	words  []atomic.Uint64
	lines  uint64
	memory []tallyring.Line
}

// NewLines returns n lines, on huge pages where the engine's own tables are. All of their memory is
// there: none is left for the system to provide on first use.
func NewLines(n int) *Lines {
	memory := tallyring.NewLines(n)
	for i := range memory {
		memory[i].Words[1].Store(1)
	}
	return &Lines{words: tallyring.Words(memory), lines: uint64(n), memory: memory}
}

// Count returns how many lines were ever counted on.
func (l *Lines) Count() (used int) {
	for i := range l.memory {
		if l.memory[i].Words[0].Load() != 0 {
			used++
		}
	}
	return used
}

// CAS counts on the line of each hash, by a load and a compare-and-swap, and returns how often that
// succeeded.
func (l *Lines) CAS(hashes []uint64) (stored int) {
	words, lines := l.words, l.lines
	for _, hash := range hashes {
		line, _ := bits.Mul64(hash, lines)
		word := &words[line*tallyring.LineWords]
		old := word.Load()
		if word.CompareAndSwap(old, old+1) {
			stored++
		}
	}
	return stored
}

// batch is how many lines CASBatches fetches ahead, as many as the engine's AllowMany does.
const batch = 32

// CASBatches is CAS with the lines of 32 hashes fetched for writing before the first is counted on.
func (l *Lines) CASBatches(hashes []uint64) (stored int) {
	var indexes [batch]uint64
	for len(hashes) > 0 {
		n := min(len(hashes), batch)
		for i, hash := range hashes[:n] {
			indexes[i], _ = bits.Mul64(hash, l.lines)
		}
		tallyring.PrefetchLines(l.memory, indexes[:n])
		stored += l.CAS(hashes[:n])
		hashes = hashes[n:]
	}
	return stored
}

// CASUntilStored is CAS where each line's step is repeated until it succeeds. It returns the number
// of hashes.
func (l *Lines) CASUntilStored(hashes []uint64) int {
	words, lines := l.words, l.lines
	for _, hash := range hashes {
		line, _ := bits.Mul64(hash, lines)
		word := &words[line*tallyring.LineWords]
		for {
			old := word.Load()
			if word.CompareAndSwap(old, old+1) {
				break
			}
		}
	}
	return len(hashes)
}
