// Package tallyring is the floor of a lock-free engine that counts events in sliding windows and
// decides allow or deny. It holds the words that every package above it speaks, and everything
// that depends on the machine; no package above this one has a build tag.
//
// Most programs want package limiter, the front door. The others are its parts, and each can be
// used alone:
//
//	limiter     keys, clock, policy, options          one limit for many keys
//	table       open addressing, one line per key     the same, for keys that are hashes already
//	pertcore    one window on a line per processor    one hot limit that all processors ask
//	atomicring  one ring of buckets                   one limit, no keys
//	slidinglog  the exact log                         small limits, and the oracle in tests
//	exphist     the exponential histogram             nearly exact, in a few hundred bytes
//	gcra        the token bucket, in one word         a rate and a burst
//
// # Words
//
// A tick is a time in nanoseconds on a monotonic clock. A bucket is a span of ticks of one width; a
// slot is the counter that holds one bucket; a ring is n slots. Newest is the index of the newest
// bucket in which something was counted. A window is n slots of width b; its length is (n-1)*b, or
// b for the fixed window n = 1. The oldest bucket is newest-(n-1), of which only a part is still
// inside the window. A key is who is counted, a limit is the most events per window, a cost is what
// one event weighs.
//
// # What every decision promises
//
// An event is admitted if and only if the estimate plus its cost stays within the limit. The
// estimate is every slot but the oldest in full, plus the share of the oldest that is still inside
// the window; it is computed in integers and never rounds toward allow. A denied event changes
// nothing and writes nothing. The limit is an argument of the decision, not part of the state.
// Decisions on one key are linearizable, and a goroutine that is stopped anywhere stops no other.
//
// A window that is interpolated (not [Window.Strict]) can be driven to admit up to twice its limit
// in one trailing window length, by events that all fall into a bucket's last instant. A strict
// window never admits more than its limit in any trailing window length.
package tallyring
