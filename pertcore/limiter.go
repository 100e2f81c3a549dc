package pertcore

import (
	"fmt"
	"math/bits"
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
// The center is a ring of package atomicring whose head word carries a mode and a generation. In
// exact mode the count is the truth: admissions swap the center, denials are loads. In shared mode
// the count lacks what the shards have used in this generation. Each shard may use its share of
// what remains, floor(remaining/shards). So all of them together never use more than what remains.
// Nothing is ever lent, in flight, or given back.
//
// What remains depends on the tick, since the oldest bucket leaves the window little by little. So
// that every event is right as of its own tick, even where ticks go back within a bucket, shares do
// not: they are whole, and count the oldest bucket in full; or they are weighted, as of a time in
// the bucket that the generation began with (since), and serve no earlier tick.
//
// # Who may change what
//
//   - An open shard of the center's generation belongs to the goroutines on its P: swap used for
//     used+cost. The center is read after the shard: success proves that the shard was not closed
//     in between, hence that the generation was the center's all the while, and its count the same.
//   - A generation is ended by anyone (fold): close every shard, after which used cannot change;
//     add up; swap the center, key and head together, to the next generation in exact mode.
//   - A closed shard of the generation before the center's is opened by its first spend.
//   - A turn to a newer bucket is a rotation of the ring, in exact mode: seal, carry, move on. A
//     fold that is on its way to a turn seals by the same swap.
//   - The admission that leaves enough room, in exact mode, also opens shared mode.
//
// A denial counts nothing. In exact mode it writes nothing either. In shared mode it is taken on
// the sum of all shards: used only grows in a generation, so a sum over the limit is over it still
// when the center is found unchanged. Where too little remains for shares that pay, the first
// denied event ends the generation, and those after it find an exact count. No bucket turns.
//
// A fold that fails, fails because another succeeded, or because an event was admitted or taken
// back; exact mode is left by an admission, and a bucket by a turn: so some goroutine always gets
// on.
type Limiter struct {
	limit     atomic.Uint64
	shards    []shard
	mask      uint64
	ring      atomicring.Tagged
	shareBits uint8  // log2 of the number of shards
	sinceUnit uint8  // log2 of the nanoseconds of which since is a multiple
	room      uint64 // remaining from which shared mode pays: a shard then uses what closing costs

	pair  *tallyring.Pair // the center: its key, and its head as the state
	words []atomic.Uint64 // the head, and the older buckets
}

// shard is what one P has used in one generation, on lines of its own.
type shard struct {
	word atomic.Uint64
	_    [tallyring.PadBytes - 8]byte // keeps the next P's shard away
}

// NewLimiter returns a limiter that admits events of a total cost up to limit in each window. It
// fails if w is not valid, or if a count of its width cannot hold the limit beside ten years of
// bucket indexes. A limit of 0 denies everything; [tallyring.Unlimited] admits and counts
// everything.
func NewLimiter(w tallyring.Window, limit uint64) (*Limiter, error) {
	return newLimiter(w, limit, shardsNow())
}

// newLimiter is NewLimiter for a number of shards, a power of two.
func newLimiter(w tallyring.Window, limit uint64, shards int) (*Limiter, error) {
	ring, err := layout(w)
	if err != nil {
		return nil, err
	}
	lines := tallyring.NewLines((w.Slots+1)/tallyring.LineWords + 2)
	l := &Limiter{
		shards:    make([]shard, shards),
		mask:      uint64(shards - 1),
		shareBits: uint8(bits.Len(uint(shards - 1))),
		sinceUnit: uint8(max(bits.Len64(uint64(w.Width-1)), sinceBits) - sinceBits),
		ring:      ring,
		room:      uint64(shards) * max(uint64(shards), 2),
		pair:      &tallyring.Pairs(lines)[0],
		words:     tallyring.Words(lines)[1 : 1+w.Slots],
	}
	if err := l.holds(limit); err != nil {
		return nil, err
	}
	l.limit.Store(limit)
	l.pair.Key.Store(1 << sinceBits)
	l.pair.State.Store(exactMark | l.low(1))
	return l, nil
}

// layout returns that of the center's ring, with a count of at most maxCountBits. It ends because
// every further mark takes a bit of the count, once there is one to take.
func layout(w tallyring.Window) (atomicring.Tagged, error) {
	for markBits := modeBits; ; markBits++ {
		ring, err := atomicring.NewTagged(w, markBits)
		if err != nil || bits.Len64(ring.CountMask()) <= maxCountBits {
			return ring, err
		}
	}
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
//
// What stands here is the spend of a whole share. The comparison says that the head is in shared
// mode with whole shares and the shard is open, in generations that may be the same: if they are
// not, the shard was closed before the head was loaded, and the swap fails.
func (l *Limiter) Allow(now tallyring.Tick, cost uint64) bool {
	shard := &l.shards[uint64(tallyring.Pin())&l.mask].word
	word := shard.Load()
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.LimiterLooked)
	}
	head, limit := l.pair.State.Load(), l.limit.Load()
	count, last := l.ring.Near(head<<modeBits>>modeBits, now)
	used := word&l.ring.CountMask() + cost
	if (word^head)>>(64-modeBits) == 0 && l.ring.Plain(count, cost, limit) {
		taken := count + l.ring.Older(l.words[1:], last) + used<<(l.shareBits&63)
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.LimiterSpend)
		}
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
	center
	allowed bool
	counted uint64 // the plain head, and what the shards have used where that was added up
	ahead   uint64 // buckets from the head's to the one decided in
	limit   uint64
	atomicring.Standing
}

// weigh sets what v stands on at now, counted given.
func (l *Limiter) weigh(v *verdict, now tallyring.Tick) {
	if v.counted == 0 && l.unused() {
		// Nothing was ever counted, so no bucket is the newest, whatever the head's index says.
		if first := l.ring.Head(l.ring.Index(now)); first != 0 {
			v.Standing, _ = l.ring.Standing(l.words, first, now)
			v.ahead = uint64(len(l.words))
			return
		}
	}
	v.Standing, v.ahead = l.ring.Standing(l.words, v.counted, now)
}

// unused tells whether no older bucket was ever carried. The ring's own test of this does not know
// that the head has a mode.
func (l *Limiter) unused() bool {
	for i := range l.words[1:] {
		if l.words[1+i].Load() != 0 {
			return false
		}
	}
	return true
}

// fits tells whether the limit admits cost as things stand.
func (l *Limiter) fits(v *verdict, cost uint64) bool {
	return v.limit == tallyring.Unlimited || v.limit > 0 && l.ring.Fits(v.Standing, cost, v.limit)
}

// decide is Allow in full. It repeats a look when the center or the shard has changed, or after it
// has ended a generation or turned to a newer bucket, which others profit from.
//
// The shard is loaded before the center, and the center before the limit.
func (l *Limiter) decide(shard *atomic.Uint64, now tallyring.Tick, cost uint64) verdict {
	for {
		word := shard.Load()
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.LimiterLooked)
		}
		v := verdict{center: l.look()}
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.LimiterWeigh)
		}
		v.limit = l.ring.Clamp(l.limit.Load())
		v.counted = v.plain()
		l.weigh(&v, now)
		var done bool
		if v.exact() {
			done = l.decideExact(&v, cost)
		} else {
			done = l.decideShared(&v, shard, word, now, cost)
		}
		if done {
			return v
		}
	}
}

// decideExact decides on the center's count, which is all there is. It swaps the key as well: if
// SetLimit has ended the generation, the limit in hand is an old one, and the swap fails.
func (l *Limiter) decideExact(v *verdict, cost uint64) (done bool) {
	v.allowed = l.fits(v, cost)
	switch {
	case !v.allowed || cost == 0:
		return l.unchanged(v.center)
	case v.ahead > 0:
		l.turn(v.head, v.Index-v.ahead, v.Index)
		return false
	}
	mask := l.ring.CountMask()
	count := v.head & mask
	counted := min(count+min(cost, mask), mask)
	key, next := l.mode(v, counted-count)
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.LimiterCount)
	}
	return l.swap(v.center, key, next-count+counted)
}

// mode returns the key and the head with which the center goes on when more is counted in exact
// mode: shared if then enough remains, with whole shares if those are worth it.
func (l *Limiter) mode(v *verdict, more uint64) (key, head uint64) {
	if l.remaining(v, 0, false) >= l.room+more {
		return v.key, v.head &^ exactMark
	}
	if since := l.since(v.Elapsed); l.remaining(v, since, true) >= l.room+more {
		return v.key | since, v.head&^exactMark | weightedMark
	}
	return v.key, v.head
}

// since returns the time elapsed in a bucket as a key holds it, rounded down, and less a little of
// the bucket, so that goroutines whose ticks lag behind still find shares.
func (l *Limiter) since(elapsed uint64) uint64 {
	const lag = 1 << (sinceBits - 10)
	units := elapsed >> l.sinceUnit
	return units - min(units, lag)
}

// remaining returns what one generation may use in all. Without a limit it is what the head can
// count.
func (l *Limiter) remaining(v *verdict, since uint64, weighted bool) uint64 {
	if v.limit == tallyring.Unlimited {
		return l.ring.CountMask() - v.counted&l.ring.CountMask()
	}
	if !weighted || v.Full > v.limit {
		return v.limit - min(v.limit, v.Full+v.Oldest)
	}
	s := v.Standing
	s.Elapsed = since << l.sinceUnit
	return l.ring.Remaining(s, v.limit)
}

// decideShared decides on the shard's share of what the center leaves, or else on the sum of all
// shards. Where that admits more than the share does, it leaves the decision to exact mode.
func (l *Limiter) decideShared(
	v *verdict, shard *atomic.Uint64, word uint64, now tallyring.Tick, cost uint64,
) (done bool) {
	if cost > 0 && v.ahead == 0 {
		if open, ok := l.spendable(v, word, cost); ok {
			v.allowed = true
			if tallyring.Holding {
				tallyring.AtPoint(tallyring.LimiterSpend)
			}
			return shard.CompareAndSwap(word, open+cost)
		}
	}
	if !l.addUp(v, now) {
		return false
	}
	v.allowed = l.fits(v, cost)
	shared := v.ahead > 0 || cost > v.limit || l.remaining(v, l.since(v.Elapsed), true) >= l.room
	switch {
	case cost == 0 || !v.allowed && shared:
		return true
	case v.ahead > 0:
		l.fold(v.center, l.ring.SealMark())
	default:
		l.fold(v.center, 0)
	}
	return false
}

// spendable returns the word from which the shard may spend cost at v's tick, if its share admits
// that.
func (l *Limiter) spendable(v *verdict, word, cost uint64) (open uint64, ok bool) {
	open, ok = l.opened(word, v.generation())
	since := v.key & (1<<sinceBits - 1)
	weighted := v.head&weightedMark != 0
	if !ok || weighted && v.Elapsed>>l.sinceUnit < since {
		return 0, false
	}
	share := l.remaining(v, since, weighted) >> l.shareBits
	return open, cost <= share && open&l.ring.CountMask() <= share-cost
}

// addUp makes v stand on the count of the center and all shards. It fails if the generation has
// ended meanwhile. Used only grows, so the sum lies between those at the begin and at the end; it
// is one at some moment as far as one limit can tell, since if it is within the limit, so it was at
// the begin, and if it is over, so it is at the end.
func (l *Limiter) addUp(v *verdict, now tallyring.Tick) bool {
	count := v.head & l.ring.CountMask()
	sum := count
	if !v.exact() {
		for i := range l.shards {
			if tallyring.Holding {
				tallyring.AtPoint(tallyring.LimiterSum)
			}
			if word := l.shards[i].word.Load(); l.isStamp(word, v.generation()) {
				sum = min(sum+word&l.ring.CountMask(), l.ring.CountMask())
			}
		}
	}
	v.counted = v.plain() - count + sum
	l.weigh(v, now)
	return l.unchanged(v.center)
}
