package pertcore

import (
	"runtime"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// Take is Allow with the whole answer. Remaining is what is left when all shards are added up,
// which other goroutines may have used in part by the time Take returns.
func (l *Limiter) Take(now tallyring.Tick, cost uint64) tallyring.Decision {
	shard := &l.shards[shardOf(len(l.shards))].word
	for {
		v := l.decide(shard, now, cost)
		if v.allowed {
			sum := l.look(now)
			d := l.ring.Answer(l.words, sum.head, sum.Standing, sum.ahead, now, cost, v.limit, true)
			d.At = l.ring.At(v.Standing, now)
			return d
		}
		d := l.ring.Answer(l.words, v.head, v.Standing, v.ahead, now, cost, v.limit, false)
		if l.center.State.Load()<<modeBits>>modeBits == v.head {
			return d
		}
	}
}

// look adds up what the center and the shards count at now. It repeats when a generation has ended
// meanwhile, or an exact count has changed, and so after another goroutine's progress.
func (l *Limiter) look(now tallyring.Tick) verdict {
	for {
		head := l.center.State.Load()
		generation, ok := l.generation(head)
		if head == tallyring.PairBusy || !ok {
			runtime.Gosched()
			continue
		}
		count := head & l.ring.CountMask()
		sum := count
		if head&exactMark == 0 {
			for i := range l.shards {
				if word := l.shards[i].word.Load(); l.isStamp(word, generation) {
					sum = min(sum+word&l.ring.CountMask(), l.ring.CountMask())
				}
			}
		}
		v := verdict{head: (head - count + sum) << modeBits >> modeBits}
		v.Standing, v.ahead = l.ring.Standing(l.words, v.head, now)
		if l.center.State.Load() == head && l.center.Key.Load() == generation {
			return v
		}
	}
}

// Read returns what the window holds at now, with its error. It may miss events that were admitted
// while it added up the shards, and no other.
func (l *Limiter) Read(now tallyring.Tick) tallyring.Reading {
	return l.ring.Reading(l.look(now).Standing)
}

// Limit returns the limit.
func (l *Limiter) Limit() uint64 { return l.limit.Load() }

// MaxLimit returns the largest limit that SetLimit takes, beside [tallyring.Unlimited].
func (l *Limiter) MaxLimit() uint64 { return l.ring.MaxLimit() }

// SetLimit changes the limit for all decisions that begin after it has returned, and changes no
// count. It fails if the count cannot hold the limit.
//
// A decision reads the center before the limit, and swaps the center or a shard that is open in the
// center's generation. If it reads the limit before SetLimit stores the new one, it has read the
// center before SetLimit ends its generation: so it is done before that, or its swap fails.
func (l *Limiter) SetLimit(limit uint64) error {
	if err := l.holds(limit); err != nil {
		return err
	}
	l.limit.Store(limit)
	began := l.center.Key.Load()
	for l.center.Key.Load() == began {
		if head := l.center.State.Load(); head != tallyring.PairBusy {
			l.fold(head, 0)
		}
	}
	return nil
}

// Refund takes back count events that were counted at the tick at, which is Decision.At. It never
// takes more than the bucket holds, and does nothing once the bucket has left the window or is
// saturated.
func (l *Limiter) Refund(at tallyring.Tick, count uint64) {
	for {
		head := l.center.State.Load()
		if head == tallyring.PairBusy {
			runtime.Gosched()
			continue
		}
		plain := head << modeBits >> modeBits
		v := verdict{}
		v.Standing, v.ahead = l.ring.Standing(l.words, plain, at)
		behind := l.ring.Behind(v.Standing, at)
		switch {
		case v.ahead > 0 && head&l.ring.SealMark() == 0:
			return // nothing was counted in a bucket newer than the newest
		case v.ahead > 0:
			l.turn(head, v.Index-v.ahead, v.Index)
		case behind > 0:
			if l.ring.TryRefund(l.words, plain, at, count) != atomicring.Again {
				return
			}
		case head&exactMark == 0:
			l.fold(head, 0)
		default:
			held := head & l.ring.CountMask()
			if held == l.ring.CountMask() || held == 0 || count == 0 {
				return
			}
			if l.center.State.CompareAndSwap(head, head-min(held, count)) {
				return
			}
		}
	}
}

// Shards returns over how many lines the counts are spread.
func (l *Limiter) Shards() int { return len(l.shards) }
