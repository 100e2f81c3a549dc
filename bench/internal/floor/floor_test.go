package floor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Goal: the words count what they are told to, so that no step was left out.
func TestWordCounts(t *testing.T) {
	word := NewWord()
	assert.Equal(t, 10, word.Add(10))
	assert.Equal(t, 20, word.CAS(20))
	assert.Equal(t, 30, word.CASUntilStored(30))
	assert.EqualValues(t, 60, word.Count())
}

// Goal: each hash counts once on its line, all three ways, over the whole table. Method: hashes
// that are spread evenly, more than one batch of them.
func TestLinesCount(t *testing.T) {
	const n = 100
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = uint64(i) * (^uint64(0) / n)
	}
	for name, count := range map[string]func(*Lines) int{
		"CAS":            func(l *Lines) int { return l.CAS(hashes) },
		"CASBatches":     func(l *Lines) int { return l.CASBatches(hashes) },
		"CASUntilStored": func(l *Lines) int { return l.CASUntilStored(hashes) },
	} {
		lines := NewLines(n / 2)
		assert.Equal(t, n, count(lines), name)
		assert.Equal(t, n/2, lines.Count(), name)
	}
}

// Goal: the chain is one cycle through all of its lines, so that no walk is short.
func TestChainVisitsEveryLine(t *testing.T) {
	const n = 1000
	chain := NewChain(n)
	seen := map[uint64]bool{}
	at := uint64(0)
	for range n {
		at = chain.Walk(at, 1)
		seen[at] = true
	}
	assert.Len(t, seen, n)
	assert.Zero(t, at)
	assert.Zero(t, chain.Walk(0, n))
}
