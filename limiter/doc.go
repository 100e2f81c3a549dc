// Package limiter is the front door of tallyring: one limit per window for many keys, with the
// clock, the policy and the options that a proxy needs. A decision takes tens of nanoseconds,
// allocates nothing and blocks nobody; memory is bounded and known from the start. WithLog gives up
// these three for an exact answer.
//
//	l, err := limiter.New(100, time.Minute)
//	...
//	if !l.Allow(clientAddress) {
//		http.Error(w, "too many requests", http.StatusTooManyRequests)
//	}
//
// # Which window
//
//	New(100, time.Minute)                          two buckets: previous + current, interpolated
//	... WithResolution(time.Second)                61 buckets of a second, interpolated
//	... WithStrictWindow()                         never above the limit in any trailing window
//	... WithFixedWindow()                          one bucket, reset at each boundary
//	... WithBurst(20)                              token bucket: a rate, and 20 at once
//	... WithLog()                                  exact; memory follows the limit
//
// An interpolated window assumes that the events of its oldest bucket were spread evenly over it.
// Who knows the buckets can drive it to twice the limit in one trailing window, at any resolution,
// and a fixed window likewise. A strict window counts the oldest bucket whole: it never admits more
// than the limit in any trailing window, and in return admits less than it could, by up to what
// fell into one bucket.
//
// # More than a yes or no
//
// [Limiter.Wait] and [Limiter.Reserve] are for those who would rather wait than be told no.
// [Several] holds a key to several rates, and [TakeAll] an event to several keys: counted by all or
// by none. [Limiter.Observe] counts what is not to be decided on, [WithCountDenied] counts what was
// denied, and [WithShadow] decides without denying.
//
// # Keys
//
// A key is hashed with a seed that is drawn per process. Hash once and use [Limiter.AllowKey] where
// one request takes several decisions. Two keys share their count only if all 64 bits of their
// hashes agree: 2.7e-6 for any pair among ten million keys.
//
// [WithKeys] says how many keys that count something at one time always fit. A key that has been
// idle for its whole window costs nothing: another may take its cell. When no cell is free, an
// event of a new key follows [WithFullPolicy]; a key that is over its limit stays over it, whatever
// comes.
//
// # Time
//
// Verbs without a tick read the limiter's clock. The others are given one; all ticks given to one
// limiter come from one clock. A late tick is decided and counted in the newest bucket of its key,
// so it never admits what the newest tick would deny. A tick far ahead holds its key until time
// catches up; Stats.Ahead counts the ticks more than one window ahead of the limiter's clock.
package limiter
