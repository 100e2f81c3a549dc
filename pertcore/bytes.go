package pertcore

import "github.com/tallyring/tallyring"

// Bytes returns the memory of the counts, padding included.
func (l *Limiter) Bytes() int {
	return len(l.shards)*tallyring.PadBytes + len(l.words)*8 + tallyring.PairBytes
}
