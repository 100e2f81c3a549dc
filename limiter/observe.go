package limiter

import "github.com/tallyring/tallyring"

// WithShadow begins in shadow mode, see SetShadow.
func WithShadow() Option { return func(s *settings) { s.shadow = true } }

// WithCountDenied makes denied events count as well, as Observe does: who keeps sending stays
// denied. A denial's RetryAfter is as of after it was counted, so who waits for that long, and does
// not ask before, passes. Without the option a denied event changes nothing. Retries of one event
// in Wait or Reserve do not count, nor does an event that makes several demands (TakeAll, Several),
// of which all count it or none. It contradicts WithLog, whose memory follows what it counts.
func WithCountDenied() Option { return func(s *settings) { s.countDenied = true } }

// SetShadow turns shadow mode on or off: events are decided and counted as ever, and those that are
// denied are counted by Stats.ShadowDenied and let pass. The decision on such an event is Allowed
// and has a RetryAfter, which others have not. It is counted in the window no more than a denied
// one, so that the limiter decides on the next as if it had been denied; At is
// [tallyring.Uncounted], and there is nothing to refund.
func (l *Limiter) SetShadow(on bool) {
	l.shadow.Store(on)
	l.queues.wakeAll()
}

// Shadow reports whether the limiter is in shadow mode.
func (l *Limiter) Shadow() bool { return l.shadow.Load() }

// ObserveAt counts an event of key that is not to be decided on: it happened. It may take the count
// beyond the limit. It returns false where the event was not counted: the key found no cell and the
// policy is not Overflow, or a token bucket has no room for it above the burst, see WithBurst.
// Under WithLog the memory of the key grows by what is observed, up to slidinglog.MaxRuns.
func (l *Limiter) ObserveAt(key string, now tallyring.Tick, cost uint64) bool {
	return l.ObserveKey(l.Key(key), now, cost)
}

// Observe is ObserveAt now.
func (l *Limiter) Observe(key string, cost uint64) bool {
	return l.ObserveAt(key, l.clock.Now(), cost)
}

// ObserveKey is ObserveAt for a key that is hashed already.
func (l *Limiter) ObserveKey(k Key, now tallyring.Tick, cost uint64) bool {
	l.lookAhead(now)
	return l.observe(k, now, cost)
}

func (l *Limiter) observe(k Key, now tallyring.Tick, cost uint64) bool {
	var d tallyring.Decision
	switch window := l.hot.of(k); {
	case window != nil:
		window.Observe(now, cost)
		return true
	case l.table == nil:
		d = l.exact.take(uint64(k), now, cost, tallyring.Unlimited)
	default:
		d = l.table.Take(uint64(k), now, cost, tallyring.Unlimited)
	}
	return d.Allowed && d.At != tallyring.Uncounted
}

// denied does what the options say about an event that was denied, and reports whether it passes.
func (l *Limiter) denied(k Key, now tallyring.Tick, cost uint64) bool {
	if l.countDenied {
		l.observe(k, now, cost)
	}
	return l.passes()
}

// countDenial counts an event that d denied, and returns the denial as it is with that counted. If
// the event would pass now nonetheless, since another was taken back in between, d stands.
func (l *Limiter) countDenial(
	k Key, now tallyring.Tick, cost uint64, d tallyring.Decision,
) tallyring.Decision {
	l.observe(k, now, cost)
	again := l.ask(k, now, cost)
	if !again.Allowed {
		return again
	}
	l.refund(k, again.At, cost)
	return d
}

// passes tells whether an event passes although it was denied.
func (l *Limiter) passes() bool {
	if !l.shadow.Load() {
		return false
	}
	l.shadowDenied.Add(1)
	return true
}

// pass makes of a denial the decision on an event that passes nonetheless.
func pass(d *tallyring.Decision) { d.Allowed, d.At = true, tallyring.Uncounted }

// enforced is take for an event that is tried again if it is denied, and so not counted then.
func (l *Limiter) enforced(k Key, now tallyring.Tick, cost uint64) tallyring.Decision {
	d := l.ask(k, now, cost)
	if !d.Allowed && l.passes() {
		pass(&d)
	}
	return d
}

// most returns the cost above which an event of k can never pass; nothing passes where it is 0.
func (l *Limiter) most(k Key) uint64 {
	if l.Shadow() {
		return tallyring.Unlimited
	}
	return l.ask(k, 0, 0).Limit
}
