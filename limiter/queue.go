package limiter

import (
	"container/list"
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tallyring/tallyring"
)

// Reservation is a place in the queue of a key: the event that it is for is counted when its turn
// has come and the limit admits it, and not before. All methods may be called from any number of
// goroutines.
type Reservation struct {
	queues *queues
	key    Key
	cost   uint64
	done   chan struct{}

	// Written under the lock of the key's queue, before done is closed.
	place    *list.Element // nil once it is over: admitted, failed or canceled
	decision tallyring.Decision
	err      error
}

// Done returns a channel that is closed once the reservation is over: admitted, failed or canceled.
func (r *Reservation) Done() <-chan struct{} { return r.done }

// Result returns the decision by which the event was admitted. The error says that it can never
// pass, because the limit was lowered meanwhile, or that it was canceled, or that its turn has not
// come yet.
func (r *Reservation) Result() (tallyring.Decision, error) {
	select {
	case <-r.done:
		return r.decision, r.err
	default:
		return tallyring.Decision{}, fmt.Errorf("limiter: the reservation is still waiting")
	}
}

// Cancel gives the place up, and reports whether it was still waiting: then nothing was counted and
// nothing will be. An event that was admitted before stays counted; it can be refunded.
func (r *Reservation) Cancel() bool { return r.queues.cancel(r) }

// wait waits until r is over. If ctx is done before, nothing was counted.
func (r *Reservation) wait(ctx context.Context) (tallyring.Decision, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.Cancel() {
			return tallyring.Decision{}, fmt.Errorf("limiter: wait: %w", context.Cause(ctx))
		}
		<-r.done
	}
	return r.decision, r.err
}

// errCanceled is the outcome of a reservation that was given up.
var errCanceled = fmt.Errorf("limiter: the reservation was canceled")

// queues hold those who wait, one queue per key, in order of arrival. Only the first of a queue
// asks the limit; when that denies, an alarm is set for the tick at which the event may pass.
//
// A queue exists while somebody waits in it. Its shard's lock guards it; the lock is held while the
// limit is asked and the alarm is set.
//
// Who makes room signals the queue, and serves it if the lock is free. If it is not, its holder
// does so after letting go of it: a goroutine that stops while it holds the lock stops those who
// wait, and nobody else. (Who has signaled and then fails to get the lock finds it held after the
// signal, and its holder looks for signals after that.)
//
// Those who wait for several limiters do so in queues of their own, which are the outer ones of
// each of these limiters: they are signaled whenever one of its queues is. While an outer queue is
// served, inner ones may be signaled, not the other way round.
type queues struct {
	clock   tallyring.Clock
	take    func(Key, tallyring.Tick, uint64) tallyring.Decision
	most    func(Key) uint64 // the cost above which an event can never pass
	callAt  func(tallyring.Tick, func()) (stop func() bool)
	outer   *queues // nil where there are none
	shared  bool    // what is given back for one key may be room for another
	waiting atomic.Int64
	shards  [queueShards]queueShard
}

const queueShards = 64

type queueShard struct {
	mu     sync.Mutex
	queues map[Key]*queue

	// Written by anybody, and taken by whoever holds mu.
	signals atomic.Pointer[signal] // the queues to serve
	count   atomic.Int32           // about how many signals there are
	every   atomic.Bool            // serve all queues
}

// queue is one key's queue.
type queue struct {
	places list.List   // of *Reservation
	stop   func() bool // of the alarm; nil where none is set
}

// newQueues returns no queues for a limit that take asks, on the alarm of clock, or real time where
// it has none.
func newQueues(
	clock tallyring.Clock,
	take func(Key, tallyring.Tick, uint64) tallyring.Decision, most func(Key) uint64,
) *queues {
	s := &queues{clock: clock, take: take, most: most}
	s.callAt = func(due tallyring.Tick, f func()) func() bool {
		return time.AfterFunc(time.Duration(due-max(clock.Now(), 0)), f).Stop
	}
	if alarm, ok := clock.(tallyring.Alarm); ok {
		s.callAt = alarm.CallAt
	}
	return s
}

func (s *queues) shard(k Key) *queueShard { return &s.shards[k%queueShards] }

// wait is Wait for a limit that was asked before, if nobody waits for the key, and has denied.
func (s *queues) wait(ctx context.Context, k Key, cost uint64) (tallyring.Decision, error) {
	if err := ctx.Err(); err != nil {
		return tallyring.Decision{}, fmt.Errorf("limiter: wait: %w", context.Cause(ctx))
	}
	if s.waiting.Load() == 0 {
		if d := s.take(k, s.clock.Now(), cost); d.Allowed {
			return d, nil
		}
	}
	return s.reserve(k, cost).wait(ctx)
}

// reserve joins the queue of a key.
func (s *queues) reserve(k Key, cost uint64) *Reservation {
	r := &Reservation{queues: s, key: k, cost: cost, done: make(chan struct{})}
	shard := s.shard(k)
	shard.mu.Lock()
	defer s.release(shard)
	if shard.queues == nil {
		shard.queues = map[Key]*queue{}
	}
	if shard.queues[k] == nil {
		shard.queues[k] = &queue{}
	}
	q := shard.queues[k]
	r.place = q.places.PushBack(r)
	s.waiting.Add(1)
	if q.places.Len() == 1 {
		s.serve(shard, k, q)
	} else if limit := s.most(k); cost > limit {
		s.end(q, r, tallyring.Decision{Limit: limit, RetryAfter: tallyring.Never}, nil)
	}
	return r
}

// serve admits from the front of a queue whom the limit admits, and sets the alarm for the next.
func (s *queues) serve(shard *queueShard, k Key, q *queue) {
	if q.stop != nil {
		q.stop()
		q.stop = nil
	}
	for q.places.Len() > 0 {
		first := q.places.Front().Value.(*Reservation)
		now := max(s.clock.Now(), 0)
		d := s.take(k, now, first.cost)
		switch {
		case d.Allowed || d.RetryAfter == tallyring.Never:
			s.end(q, first, d, nil)
		case s.alarm(k, q, now, d.RetryAfter):
			return
		}
	}
	if delete(shard.queues, k); len(shard.queues) == 0 {
		shard.queues = nil // a map keeps the memory of its peak
	}
}

// alarm has the queue served when the clock has gone on from a tick by wait. It returns false if
// that is over by now: an alarm that is due already might never ring.
func (s *queues) alarm(k Key, q *queue, from tallyring.Tick, wait time.Duration) bool {
	if wait > time.Duration(math.MaxInt64-from) {
		return true // the clock does not go as far
	}
	due := from + tallyring.Tick(max(wait, 1))
	stop := s.callAt(due, func() { s.signal(k) })
	if s.clock.Now() >= due {
		stop()
		return false
	}
	q.stop = stop
	return true
}

// end takes a reservation out of its queue, and tells it the outcome: err or, where that is nil and
// d does not allow the event, that it can never pass.
func (s *queues) end(q *queue, r *Reservation, d tallyring.Decision, err error) {
	if err == nil && !d.Allowed {
		err = hopeless(r.cost, d.Limit)
	}
	q.places.Remove(r.place)
	r.place, r.decision, r.err = nil, d, err
	s.waiting.Add(-1)
	close(r.done)
}

// hopeless is the outcome of an event that can never pass.
func hopeless(cost, limit uint64) error {
	if limit == 0 {
		return fmt.Errorf("limiter: cost %d can never pass under limit 0, want a limit", cost)
	}
	return fmt.Errorf("limiter: cost %d can never pass under limit %d, want at most that",
		cost, limit)
}

// cancel ends a reservation, and reports whether it was waiting still.
func (s *queues) cancel(r *Reservation) bool {
	shard := s.shard(r.key)
	shard.mu.Lock()
	defer s.release(shard)
	if r.place == nil {
		return false
	}
	q := shard.queues[r.key]
	first := q.places.Front() == r.place
	s.end(q, r, tallyring.Decision{}, errCanceled)
	if first {
		s.serve(shard, r.key, q) // who is first now may ask for less
	}
	return true
}
