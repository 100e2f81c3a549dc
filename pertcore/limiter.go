package pertcore

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// Limiter decides on the events of one window against one limit, exactly, and far from the limit
// without a line that two processors write. All methods may be called from any number of
// goroutines; none blocks where tallyring.PairLockFree is true, and none allocates. A Limiter must
// not be copied.
//
// # Two modes
//
// The center is a ring of package atomicring whose head word carries a mode and a generation.
//
//	center key    {generation}
//	center state  {exact | generation, low bits | bucket index | sealed | count}
//	shard         {closed | generation, low bits | generation, high bits | used}
//
// In exact mode the count is the truth: admissions swap the head, denials are loads. In shared mode
// the count lacks what the shards have used in this generation. Each shard may use its share of
// what remains, floor(remaining/shards), where remaining is what the count and the older buckets
// leave at the caller's tick. So all of them together never use more than what remains, and within
// a bucket that only grows. Nothing is ever lent, in flight, or given back.
//
// # Who may change what
//
//   - An open shard of the center's generation belongs to the goroutines on its P: swap used for
//     used+cost. The center is read after the shard: success proves that the shard was not closed
//     in between, hence that the generation was the center's all the while, and its count the same.
//   - A generation is ended by anyone (fold): close every shard, after which used cannot change;
//     add up; swap the center, key and state together, to the next generation in exact mode. If a
//     spend's swap comes first, the close fails and sees the new use. If the close comes first, the
//     spend fails.
//   - A closed shard of the generation before the center's is opened by its first spend.
//   - A turn to a newer bucket is a rotation of the ring, in exact mode: seal, carry, move on. A
//     fold that is on its way to a turn seals by the same swap.
//   - The admission that leaves enough room, in exact mode, also opens shared mode.
//
// Denials happen in exact mode alone, on an exact count: nothing is denied while a share lies
// unused. A fold that fails, fails because another succeeded or a refund did; a mode is left only
// by an admission or a turn: so some goroutine always gets on.
type Limiter struct {
	limit  atomic.Uint64
	shards []shard
	mask   uint64
	ring   atomicring.Tagged
	room   uint64 // remaining from which shared mode pays: each shard then uses as much as it costs

	center *tallyring.Pair
	words  []atomic.Uint64 // the center's state, and the older buckets
}

// shard is what one P has used in one generation, on lines of its own.
type shard struct {
	word atomic.Uint64
	_    [tallyring.PadBytes - 8]byte // keeps the next P's shard away
}

const (
	// modeBits is what the head gives to the mode and to the low bits of the generation.
	modeBits       = 5
	generationBits = modeBits - 1

	exactMark  = uint64(1) << 63
	closedMark = uint64(1) << 63
)

// NewLimiter returns a limiter that admits events of a total cost up to limit in each window. It
// fails if w is not valid, or if a count of its width cannot hold the limit beside ten years of
// bucket indexes. A limit of 0 denies everything; [tallyring.Unlimited] admits and counts
// everything.
func NewLimiter(w tallyring.Window, limit uint64) (*Limiter, error) {
	ring, err := atomicring.NewTagged(w, modeBits)
	if err != nil {
		return nil, err
	}
	shards := shardsNow()
	lines := tallyring.NewLines((w.Slots+1)/tallyring.LineWords + 2)
	l := &Limiter{
		shards: make([]shard, shards),
		mask:   uint64(shards - 1),
		ring:   ring,
		room:   uint64(shards) * max(uint64(shards), 2),
		center: &tallyring.Pairs(lines)[0],
		words:  tallyring.Words(lines)[1 : 1+w.Slots],
	}
	if err := l.holds(limit); err != nil {
		return nil, err
	}
	l.limit.Store(limit)
	l.center.Key.Store(1)
	l.center.State.Store(exactMark | l.low(1))
	return l, nil
}

func (l *Limiter) holds(limit uint64) error {
	if limit > l.ring.MaxLimit() && limit != tallyring.Unlimited {
		return fmt.Errorf("pertcore: limit %d is above %d, the most that a count of this width "+
			"can hold: want a lower limit or a larger width", limit, l.ring.MaxLimit())
	}
	return nil
}

// Allow counts an event of the given cost if the limit admits it at now, and reports whether it
// did. Cost 0 asks without counting.
func (l *Limiter) Allow(now tallyring.Tick, cost uint64) bool {
	shard := &l.shards[uint64(tallyring.Pin())&l.mask].word
	word := shard.Load()
	head, limit := l.center.State.Load(), l.limit.Load()
	count, last := l.ring.Near(head<<modeBits>>modeBits, now)
	used := word&l.ring.CountMask() + cost
	if (word^head)>>(64-modeBits) == 0 && l.ring.Plain(count, cost, limit) {
		taken := count + l.ring.Older(l.words[1:], last) + used*uint64(len(l.shards))
		if taken <= limit && shard.CompareAndSwap(word, word+cost) {
			tallyring.Unpin()
			return true
		}
	}
	tallyring.Unpin()
	return l.decide(shard, now, cost).allowed
}

// verdict is what one look at the limiter decided, and on what.
type verdict struct {
	allowed bool
	head    uint64 // the center's state without its mode
	ahead   uint64 // buckets from the head's to the one decided in
	limit   uint64
	atomicring.Standing
}

// decide is Allow in full. It repeats a look when the center or the shard has changed, or after it
// has ended a generation or turned to a newer bucket, which others profit from.
func (l *Limiter) decide(shard *atomic.Uint64, now tallyring.Tick, cost uint64) verdict {
	for {
		word, head := shard.Load(), l.center.State.Load()
		if head == tallyring.PairBusy {
			runtime.Gosched()
			continue
		}
		limit := l.ring.Clamp(l.limit.Load())
		v := verdict{head: head << modeBits >> modeBits, limit: limit}
		v.Standing, v.ahead = l.ring.Standing(l.words, v.head, now)
		var done bool
		if head&exactMark != 0 {
			done = l.decideExact(&v, head, cost, limit)
		} else {
			done = l.decideShared(&v, shard, word, head, cost, limit)
		}
		if done {
			return v
		}
	}
}

// decideExact decides on the center's count, which is all there is.
func (l *Limiter) decideExact(v *verdict, head, cost, limit uint64) (done bool) {
	v.allowed = limit == tallyring.Unlimited || limit > 0 && l.ring.Fits(v.Standing, cost, limit)
	switch {
	case !v.allowed || cost == 0:
		return l.center.State.Load() == head
	case v.ahead > 0:
		l.turn(head, v.Index-v.ahead, v.Index)
		return false
	}
	count := v.head & l.ring.CountMask()
	next := head - count + min(count+min(cost, l.ring.CountMask()), l.ring.CountMask())
	if l.ring.Remaining(v.Standing, limit)-min(cost, limit) >= l.room {
		next &^= exactMark
	}
	return l.center.State.CompareAndSwap(head, next)
}

// decideShared decides on the shard's share of what the center leaves. What it cannot tell from
// that it leaves to exact mode.
func (l *Limiter) decideShared(
	v *verdict, shard *atomic.Uint64, word, head, cost, limit uint64,
) (done bool) {
	switch {
	case cost == 0:
		// The shards use no more than what remains, so the estimate is within the limit.
		v.allowed = limit > 0
		return l.center.State.Load() == head
	case v.ahead > 0:
		l.fold(head, l.ring.SealMark())
		return false
	}
	open, ok := l.opened(word, head)
	if !ok {
		l.fold(head, 0)
		return false
	}
	share := l.share(v.Standing, limit)
	if used := open & l.ring.CountMask(); cost > share || used > share-cost {
		l.fold(head, 0)
		return false
	}
	v.allowed = true
	return shard.CompareAndSwap(word, open+cost)
}

// share returns how much one shard may use in a generation.
func (l *Limiter) share(s atomicring.Standing, limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return (l.ring.CountMask() - min(s.Full, l.ring.CountMask())) / uint64(len(l.shards))
	}
	return l.ring.Remaining(s, limit) / uint64(len(l.shards))
}
