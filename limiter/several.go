package limiter

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/tallyring/tallyring"
)

// Rate is a limit per window.
type Rate struct {
	Limit  uint64
	Window time.Duration
}

// Several holds each key to several rates at once, such as 10 per second, 100 per minute and 1000
// per hour. An event is counted by all of them or by none, see TakeAll. All methods may be called
// from any number of goroutines.
type Several struct {
	limiters []*Limiter
	clock    tallyring.Clock
	queues   *queues
}

// NewSeveral returns a limiter for rates, 1 to MaxDemands of them, each built by New with the same
// options. The memory is that of as many limiters.
func NewSeveral(rates []Rate, opts ...Option) (*Several, error) {
	if len(rates) < 1 || len(rates) > MaxDemands {
		return nil, fmt.Errorf("limiter: %d rates, want 1 to %d", len(rates), MaxDemands)
	}
	s := &Several{}
	for i, rate := range rates {
		l, err := New(rate.Limit, rate.Window, opts...)
		if err != nil {
			return nil, fmt.Errorf("limiter: rate %d, %d per %v: %s",
				i, rate.Limit, rate.Window, strings.TrimPrefix(err.Error(), "limiter: "))
		}
		s.limiters = append(s.limiters, l)
	}
	s.clock = s.limiters[0].clock
	s.queues = newQueues(s.clock, s.enforced, s.most)
	for _, l := range s.limiters {
		l.queues.outer = s.queues
		s.queues.shared = l.queues.shared
	}
	return s, nil
}

// enforced is TakeKey for the queues of s, the lock of which is held: it wakes those alone who wait
// for one rate.
func (s *Several) enforced(k Key, now tallyring.Tick, cost uint64) tallyring.Decision {
	var space [MaxDemands]Demand
	demands := s.demands(&space, k)
	j, undone := takeAll(demands, now, cost)
	undone.wake(demands, (*queues).wakeOwn)
	return j.Decision
}

// most returns the cost above which an event of k can never pass.
func (s *Several) most(k Key) uint64 {
	least := tallyring.Unlimited
	for _, l := range s.limiters {
		least = min(least, l.most(k))
	}
	return least
}

// SetLimit changes the limit of one rate, as Limiter.SetLimit does. It panics if there is no such
// rate.
func (s *Several) SetLimit(rate int, limit uint64) error {
	return s.limiters[rate].SetLimit(limit)
}

// Limiters returns the limiter of each rate, in their order: to see what it counts, to observe, for
// shadow mode and limits of keys. Who waits for one of them stands in another queue than those who
// wait for all, and neither is served before the other by right.
func (s *Several) Limiters() []*Limiter { return append([]*Limiter(nil), s.limiters...) }

// Allow admits one event of key now, or denies it.
func (s *Several) Allow(key string) bool { return s.Take(key, 1).Allowed }

// AllowN is Allow for an event of the given cost.
func (s *Several) AllowN(key string, cost uint64) bool { return s.Take(key, cost).Allowed }

// AllowAt admits an event of the given cost at a tick of the caller's, or denies it.
func (s *Several) AllowAt(key string, now tallyring.Tick, cost uint64) bool {
	return s.TakeAt(key, now, cost).Allowed
}

// Take is Allow for an event of any cost, with the whole answer. Joint.DeniedBy is the place of the
// rate that denied it.
func (s *Several) Take(key string, cost uint64) Joint {
	return s.TakeAt(key, s.clock.Now(), cost)
}

// TakeAt is Take at a tick of the caller's.
func (s *Several) TakeAt(key string, now tallyring.Tick, cost uint64) Joint {
	return s.TakeKey(s.Key(key), now, cost)
}

// TakeKey is TakeAt for a key that is hashed already.
func (s *Several) TakeKey(k Key, now tallyring.Tick, cost uint64) Joint {
	var demands [MaxDemands]Demand
	return TakeAll(s.demands(&demands, k), now, cost)
}

// RefundKey takes back an event of key that was admitted with the answer j.
func (s *Several) RefundKey(k Key, j Joint, cost uint64) {
	var demands [MaxDemands]Demand
	RefundAll(s.demands(&demands, k), j, cost)
}

// Key returns the hash of a key given as text. It does not allocate.
func (s *Several) Key(key string) Key { return hashText(key) }

// KeyBytes is Limiter.KeyBytes.
func (s *Several) KeyBytes(key []byte) Key { return s.limiters[0].KeyBytes(key) }

// KeyParts is Limiter.KeyParts.
func (s *Several) KeyParts(parts ...string) Key { return s.limiters[0].KeyParts(parts...) }

// KeyAddr is Limiter.KeyAddr.
func (s *Several) KeyAddr(addr netip.Addr) Key { return s.limiters[0].KeyAddr(addr) }

// Waiting returns how many events wait for all rates. Stats of the limiters do not count them.
func (s *Several) Waiting() int { return int(s.queues.waiting.Load()) }

func (s *Several) demands(space *[MaxDemands]Demand, k Key) []Demand {
	for i, l := range s.limiters {
		space[i] = Demand{l, k}
	}
	return space[:len(s.limiters)]
}
