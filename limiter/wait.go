package limiter

import (
	"context"

	"github.com/tallyring/tallyring"
)

// Wait waits until an event of key is admitted, and counts it. Where ctx is done before, it returns
// an error that wraps the cause, and nothing was counted.
//
// Those who wait for one key are served in order of arrival: only the first in the queue asks the
// limit, at the tick at which it may pass. Allow and Take do not queue; what they are given, the
// queue has to wait for. Waiting takes memory and a mutex, which deciding does not. Where the clock
// is no [tallyring.Alarm], the queue waits in real time.
func (l *Limiter) Wait(ctx context.Context, key string) error {
	_, err := l.WaitKey(ctx, l.Key(key), 1)
	return err
}

// WaitN is Wait for an event of the given cost. It fails at once if that is above the limit, and as
// soon as it is its turn if the limit was lowered so meanwhile.
func (l *Limiter) WaitN(ctx context.Context, key string, cost uint64) error {
	_, err := l.WaitKey(ctx, l.Key(key), cost)
	return err
}

// WaitKey is WaitN for a key that is hashed already, with the decision that admitted the event.
func (l *Limiter) WaitKey(
	ctx context.Context, k Key, cost uint64,
) (tallyring.Decision, error) {
	return l.queues.wait(ctx, k, cost)
}

// Reserve takes a place in the queue of key and returns at once. The event is counted when its turn
// has come; whoever changes their mind before that cancels, and nothing is counted.
func (l *Limiter) Reserve(key string, cost uint64) *Reservation {
	return l.ReserveKey(l.Key(key), cost)
}

// ReserveKey is Reserve for a key that is hashed already.
func (l *Limiter) ReserveKey(k Key, cost uint64) *Reservation { return l.queues.reserve(k, cost) }

// Wait is Limiter.Wait for all rates at once.
func (s *Several) Wait(ctx context.Context, key string) error {
	_, err := s.WaitKey(ctx, s.Key(key), 1)
	return err
}

// WaitN is Limiter.WaitN for all rates at once.
func (s *Several) WaitN(ctx context.Context, key string, cost uint64) error {
	_, err := s.WaitKey(ctx, s.Key(key), cost)
	return err
}

// WaitKey is Limiter.WaitKey for all rates at once.
func (s *Several) WaitKey(
	ctx context.Context, k Key, cost uint64,
) (tallyring.Decision, error) {
	return s.queues.wait(ctx, k, cost)
}

// Reserve is Limiter.Reserve for all rates at once.
func (s *Several) Reserve(key string, cost uint64) *Reservation {
	return s.ReserveKey(s.Key(key), cost)
}

// ReserveKey is Limiter.ReserveKey for all rates at once.
func (s *Several) ReserveKey(k Key, cost uint64) *Reservation { return s.queues.reserve(k, cost) }
