package floor

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// Chain is a cycle through all of its lines in random order: each holds the number of the next.
type Chain struct {
	words []atomic.Uint64
}

// NewChain returns a cycle of n lines.
func NewChain(n int) *Chain {
	words := tallyring.Words(tallyring.NewLines(n))
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for i, line := range order {
		words[line*tallyring.LineWords].Store(uint64(order[(i+1)%n]))
	}
	return &Chain{words: words}
}

// Walk takes n steps from a line and returns the line where it ends.
func (c *Chain) Walk(from uint64, n int) uint64 {
	at := from
	for range n {
		at = c.words[at*tallyring.LineWords].Load()
	}
	return at
}
