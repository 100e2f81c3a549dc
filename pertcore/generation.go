package pertcore

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

const (
	// modeBits is what the head gives to the mode and to the low bits of the generation, and
	// generationBits what is left of them for the latter.
	modeBits       = 5
	generationBits = modeBits - 2

	// exactMark and weightedMark are the modes of a head; neither means shared mode with whole
	// shares. No head has both, so no head looks like a closed shard.
	exactMark    = uint64(1) << 63
	weightedMark = uint64(1) << 62
	closedMark   = exactMark | weightedMark

	// sinceBits of the center's key tell since when a generation's shares hold.
	sinceBits = 16

	// maxCountBits leaves 22 bits of a shard's word for its generation at least: a goroutine that
	// sleeps between load and swap would have to miss a multiple of four million of them.
	maxCountBits = 40
)

// The three words of the protocol. The low bits of a generation lie where the head has them; a
// shard has all bits that fit.
//
//	              63      62         61-59                                  countBits       0
//	center head  {exact | weighted | generation | bucket index | sealed   | count}
//	shard        {closed           | generation | generation, high bits   | used }
//	center key   {generation : 48                                   | since : 16 }

// low returns the low bits of a generation where the head and the shards hold them.
func (l *Limiter) low(generation uint64) uint64 {
	return generation << (64 - generationBits) >> (modeBits - generationBits)
}

// stamp returns the word of a shard that has used nothing in a generation.
func (l *Limiter) stamp(generation uint64) uint64 {
	usedBits := bits.Len64(l.ring.CountMask())
	high := generation >> generationBits << usedBits
	return l.low(generation) | high<<modeBits>>modeBits
}

// isStamp tells whether word is of that generation.
func (l *Limiter) isStamp(word, generation uint64) bool {
	return word&^closedMark&^l.ring.CountMask() == l.stamp(generation)
}

// center is what the center held at one moment.
type center struct {
	key, head uint64
}

// generation returns the generation in full.
func (c center) generation() uint64 { return c.key >> sinceBits }

// plain returns the head as package atomicring has it.
func (c center) plain() uint64 { return c.head << modeBits >> modeBits }

func (c center) exact() bool { return c.head&exactMark != 0 }

// look loads the center, the head before the key. They change together, but for the count and the
// bucket of the head in exact mode; so they belong together if the low bits of the generation
// agree, or a multiple of 8 generations have ended between the two loads. In that case the head is
// an old one; a swap of both fails, and so does that of a shard's word, see opened.
//
// It repeats only when another goroutine has ended a generation, or is about to in the stand-in for
// the double-word compare-and-swap.
func (l *Limiter) look() center {
	for {
		c := center{head: l.pair.State.Load()}
		if c.head == tallyring.PairBusy {
			if tallyring.Holding {
				tallyring.AtPoint(tallyring.PairWait)
			}
			runtime.Gosched()
			continue
		}
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.LimiterKey)
		}
		c.key = l.pair.Key.Load()
		if (c.head^l.low(c.generation()))&^closedMark>>(64-modeBits) == 0 {
			return c
		}
	}
}

// unchanged tells whether the center holds what it held. In shared mode it has held it all along,
// since that mode is entered once in a generation.
func (l *Limiter) unchanged(c center) bool {
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.LimiterConfirm)
	}
	return l.pair.State.Load() == c.head && l.pair.Key.Load() == c.key
}

// swap replaces key and head together.
func (l *Limiter) swap(c center, key, head uint64) bool {
	return l.pair.CompareAndSwap(c.key, c.head, key, head)
}

// opened returns the word from which a shard may spend in a generation: word itself, or that of a
// shard which is closed still from the generation before. The caller loaded word before the center.
//
// If the head in the caller's hand is older than the generation, by a multiple of 8, then the
// center had not yet come to generation-8+1 when word was loaded, and word is of neither.
func (l *Limiter) opened(word, generation uint64) (open uint64, ok bool) {
	switch {
	case l.isStamp(word, generation):
		return word, word&closedMark == 0
	case l.isStamp(word, generation-1):
		return l.stamp(generation), true
	}
	return 0, false
}

// fold ends a generation, in either mode, and begins the next in exact mode. The mark seals the
// head by the same swap, unless it counts nothing.
//
// A closed shard stays as it is until the center has moved on. If c is still what the center holds
// at the swap, no other fold has succeeded, and the sum is what the shards use for good. If it is
// not, another fold has, or in exact mode another change of the count, and this one does nothing:
// what it closed stays closed until somebody folds.
func (l *Limiter) fold(c center, mark uint64) {
	sum := c.head & l.ring.CountMask()
	for i := range l.shards {
		used, ok := l.closeShard(&l.shards[i].word, c.generation())
		if !ok {
			return
		}
		sum = min(sum+used, l.ring.CountMask())
	}
	if sum == 0 {
		mark = 0
	}
	next := c.generation() + 1
	index := c.plain() &^ l.ring.CountMask()
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.LimiterFold)
	}
	l.swap(c, next<<sinceBits, exactMark|l.low(next)|index|mark|sum)
}

// closeShard closes a shard's word of a generation, or of the one before, and returns what was used
// in that generation. It is not ok if the shard is beyond it. It ends because each failure means
// that the shard was spent from, at most as often as it has a share, or closed.
//
// If a spend's swap comes first, the close fails and sees the new use. If the close comes first,
// the spend fails.
func (l *Limiter) closeShard(shard *atomic.Uint64, generation uint64) (used uint64, ok bool) {
	for {
		word := shard.Load()
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.LimiterClose)
		}
		switch {
		case !l.isStamp(word, generation):
			if !l.isStamp(word, generation-1) {
				return 0, false
			}
			if shard.CompareAndSwap(word, closedMark|l.stamp(generation)) {
				return 0, true
			}
		case word&closedMark != 0:
			return word & l.ring.CountMask(), true
		case shard.CompareAndSwap(word, word|closedMark):
			return word & l.ring.CountMask(), true
		}
	}
}

// turn moves the head, in exact mode, from one bucket on to another, or does what part of that is
// left to do.
func (l *Limiter) turn(head, from, to uint64) {
	count := head & l.ring.CountMask()
	if len(l.words) > 1 && count != 0 {
		if head&l.ring.SealMark() == 0 {
			if tallyring.Holding {
				tallyring.AtPoint(tallyring.LimiterSeal)
			}
			if !l.pair.State.CompareAndSwap(head, head|l.ring.SealMark()) {
				return
			}
			head |= l.ring.SealMark()
		}
		l.ring.Carry(l.words, head, from, count)
	}
	mode := head >> (64 - modeBits) << (64 - modeBits)
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.LimiterMove)
	}
	l.pair.State.CompareAndSwap(head, mode|l.ring.Head(to))
}
