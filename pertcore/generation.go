package pertcore

import (
	"math/bits"
	"sync/atomic"
)

// A shard's word holds its generation in two parts, the low bits where the head has them:
//
//	 63      62-59        58 countBits          0
//	{closed | generation | generation, high bits | used}

// low returns the low bits of a generation where the head and the shards hold them.
func (l *Limiter) low(generation uint64) uint64 {
	return generation << (64 - generationBits) >> 1
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

// generation returns the generation of head in full, if head is still what the center holds: key
// and state change together.
func (l *Limiter) generation(head uint64) (generation uint64, ok bool) {
	generation = l.center.Key.Load()
	return generation, (head^l.low(generation))&^exactMark>>(64-modeBits) == 0
}

// opened returns the word from which a shard may spend in the generation of head: word itself, or
// that of a shard which is closed still from the generation before.
func (l *Limiter) opened(word, head uint64) (open uint64, ok bool) {
	generation, ok := l.generation(head)
	if !ok {
		return 0, false
	}
	switch {
	case l.isStamp(word, generation):
		return word, word&closedMark == 0
	case l.isStamp(word, generation-1):
		return l.stamp(generation), true
	}
	return 0, false
}

// fold ends the generation of head, which is in shared mode or is to be invalidated, and begins the
// next in exact mode. The mark seals the head by the same swap, unless it counts nothing.
func (l *Limiter) fold(head, mark uint64) {
	generation, ok := l.generation(head)
	if !ok {
		return
	}
	sum := head & l.ring.CountMask()
	for i := range l.shards {
		used, ok := l.closeShard(&l.shards[i].word, generation)
		if !ok {
			return
		}
		sum = min(sum+used, l.ring.CountMask())
	}
	if sum == 0 {
		mark = 0
	}
	index := head << modeBits >> modeBits &^ l.ring.CountMask()
	l.center.CompareAndSwap(generation, head,
		generation+1, exactMark|l.low(generation+1)|index|mark|sum)
}

// closeShard closes a shard's word of a generation, or an older one, and returns what was used in
// that generation. It is not ok if the shard is beyond it. It ends because each failure means that
// the shard was spent from, at most as often as it has a share, or closed.
func (l *Limiter) closeShard(shard *atomic.Uint64, generation uint64) (used uint64, ok bool) {
	for {
		word := shard.Load()
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

// turn moves the center, in exact mode, from one bucket on to another, or does what part of that is
// left to do.
func (l *Limiter) turn(head, from, to uint64) {
	count := head & l.ring.CountMask()
	if len(l.words) > 1 && count != 0 {
		if head&l.ring.SealMark() == 0 {
			if !l.center.State.CompareAndSwap(head, head|l.ring.SealMark()) {
				return
			}
			head |= l.ring.SealMark()
		}
		l.ring.Carry(l.words, head, from, count)
	}
	mode := head >> (64 - modeBits) << (64 - modeBits)
	l.center.State.CompareAndSwap(head, mode|l.ring.Head(to))
}
