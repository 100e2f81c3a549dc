package limiter

// signal asks for the queue of a key to be served.
type signal struct {
	key  Key
	next *signal
}

// mostSignals bounds the memory of signals that nobody answers, since a goroutine has stopped.
const mostSignals = 64

// release lets go of the shard's lock, and then answers who has signaled meanwhile.
func (s *queues) release(shard *queueShard) {
	shard.mu.Unlock()
	s.answer(shard)
}

// answer serves the queues that were signaled, unless another goroutine holds the lock.
func (s *queues) answer(shard *queueShard) {
	for (shard.every.Load() || shard.signals.Load() != nil) && shard.mu.TryLock() {
		if shard.every.Swap(false) {
			for k, q := range shard.queues {
				s.serve(shard, k, q)
			}
		}
		shard.count.Store(0)
		for got := shard.signals.Swap(nil); got != nil; got = got.next {
			if q := shard.queues[got.key]; q != nil {
				s.serve(shard, got.key, q)
			}
		}
		shard.mu.Unlock()
	}
}

// wake serves those who wait for a key, since there may be more room.
func (s *queues) wake(k Key) {
	s.wakeOwn(k)
	if s.outer != nil {
		s.outer.wakeOwn(k)
	}
}

// wakeOwn is wake without the outer queues.
func (s *queues) wakeOwn(k Key) {
	if s.shared {
		s.wakeEach()
	} else {
		s.signal(k)
	}
}

// signal has the queue of a key served.
func (s *queues) signal(k Key) {
	if s.waiting.Load() == 0 {
		return
	}
	shard := s.shard(k)
	if shard.count.Load() >= mostSignals {
		shard.every.Store(true)
	} else {
		shard.count.Add(1)
		sent := &signal{key: k, next: shard.signals.Load()}
		for !shard.signals.CompareAndSwap(sent.next, sent) {
			sent.next = shard.signals.Load()
		}
	}
	s.answer(shard)
}

// wakeAll serves every queue, since there may be more room for each.
func (s *queues) wakeAll() {
	s.wakeEach()
	if s.outer != nil {
		s.outer.wakeEach()
	}
}

// wakeEach is wakeAll without the outer queues.
func (s *queues) wakeEach() {
	if s.waiting.Load() == 0 {
		return
	}
	for i := range s.shards {
		s.shards[i].every.Store(true)
		s.answer(&s.shards[i])
	}
}
