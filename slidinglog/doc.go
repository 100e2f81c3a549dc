// Package slidinglog is the exact sliding-window log: it remembers when every counted event
// happened, so its count over the trailing window is no estimate. It serves small limits (login
// attempts, password resets, exports), where an answer must be exact and the memory is bearable,
// and it is the oracle that the approximate windows of this module are tested against.
//
//	Log      one log
//	Keyed    one log per 64-bit key, with room for a stated number of live keys
//
// # Contract
//
// An event counted at tick e counts at tick t if and only if t-W < e <= t, for a log of length W.
// It is admitted if and only if the events that count at its tick, plus its cost, stay within the
// limit; so no interval (t-W, t] of ticks as counted ever holds more than the limit. The newest
// tick is the latest at which something was counted and never moves back. A decision or a reading
// whose tick is before it is late: it is taken, and counted, at the newest tick. Negative ticks
// count as 0. Counts saturate at all ones, which is above every finite limit.
//
// # Memory
//
// A log holds one run of 16 bytes for each tick at which something was counted and which the window
// still covers, in a ring that doubles when it is full and halves when it stays nearly empty. The
// limit is an argument, so a log holds at most as many runs as the largest limit that admitted
// events to it, and whatever Add brought. Deciding allocates nothing but that growth.
//
// Neither Add nor the limit Unlimited has such a bound, so there is one more: [MaxRuns]. A log that
// would hold more is coarsened: events that share a cell of ceil(2W/MaxRuns) nanoseconds move to
// the latest tick among them. They are forgotten up to one cell late, never early, so the log errs
// toward denying. Its readings then say so: the true count lies in [Low, High]. Where every limit
// is at most MaxRuns and Add is not used, a log is exact.
//
// # Concurrency
//
// All verbs may be called from any number of goroutines, and Allow and Take on one log or key are
// linearizable. Unlike the rings of this module a log is not lock-free: it is a queue whose head
// moves by many places at once, and each log has a mutex that a caller holds for the length of one
// decision: O(log runs), and amortised O(1) for what expires. A late Add and a refund move the runs
// that are later than theirs, O(runs). A goroutine that is stopped by the scheduler inside a
// decision delays the others on that log or key until it runs again. A denial of Allow at an
// unchanged full log takes no lock (see [Log.Allow]).
package slidinglog
