// Package exphist counts over a sliding window with a bounded relative error, in memory that grows
// with the logarithm of the count: the exponential histogram. Where a ring of buckets has an error
// that the traffic decides, and the exact log a memory that the limit decides, this has both
// bounded at construction, whatever comes.
//
//	Histogram   events of the last W of time
//	Events      weight of the last N events: how many of them were marked, or the sum of a value
//
// # Words
//
// Eps is the relative error. A bucket is a number of consecutive events, a power of two, its size;
// it has forgotten when they happened but for the newest of them, its end. Most is the largest
// count that a histogram is asked to hold. The rest are the words of package tallyring.
//
// # Contract
//
// An event counted at tick e counts at tick t if and only if t-W < e <= t; for Events, e and t
// number the events, and W is N. A reading holds the true count of these between Low and High, and
//
//	|Estimate - true count| <= eps * true count      at every tick
//
// As long as nothing was merged, which takes more than 1/(2 eps) events, all three are exact. A
// bucket leaves whole, when its end does. In the nanosecond before, High is furthest above the true
// count; when the next oldest is a bucket that no event has left yet, High is the true count.
//
// The newest tick is the latest at which something was counted and never moves back. A decision, an
// Add or a reading whose tick is before it is late: it is taken, and counted, at the newest tick.
// So a late tick never lowers anything, nor admits what the newest would deny. Negative ticks count
// as 0. Ticks may lie apart as far as they like: what is idle for W reads 0.
//
// Counts up to most never overflow. What comes beyond and no longer fits saturates: High and the
// estimate are then above every finite limit, Low still holds, and when what did not fit has left
// the window the histogram is as exact as ever. While it is full, what comes next does not fit
// either.
//
// # Deciding
//
// Decisions go by High, and so round toward deny. With L the limit,
//
//	no trailing W ever holds more than L admitted events, and
//	no event is denied while the true count, itself included, is at most L / (1 + 2 eps).
//
// [WithEstimate] makes them go by the estimate, in integers and rounded up. That is right more
// often and wrong on both sides:
//
//	no trailing W ever holds more than L / (1 - eps) admitted events, and
//	no event is denied while the true count, itself included, is at most L / (1 + eps).
//
// A limit that must not be passed goes by High, with a larger L or a smaller eps where L/(1+2 eps)
// is not enough. RetryAfter is exact for the histogram: with no other events it admits the event
// then, and denies it one nanosecond before. That is never before the exact log of the same events
// would, where decisions go by High.
//
// # No refund
//
// There is no Refund. A bucket knows neither which events it holds nor, once merged, whether it
// holds the one to be taken back; and a bucket less one is no power of two, without which the
// bounds above do not hold. Taking one event from the newest bucket instead would lower the count
// now and leave it too low after the refunded event would have left: a limit that can be passed at
// will by whoever can cause refunds. Who must take back, and often, counts on completion with Add,
// or uses a ring or the log.
//
// # Memory
//
// With h = ceil(1/(2 eps)) there are at most h+1 buckets of each of the sizes 1, 2, 4 ... 2^(l-1),
// where l is about log2(most/h). A size is not stored: it is the level at which a bucket lies. An
// end is stored modulo the power of two at or above W, as the authors store it modulo N: the newest
// tick, kept in full, says which of all the ticks with these low bits is meant, since every end
// lies within W of it. So ten years of nanoseconds take 59 bits each, a minute takes 36, and a
// million events take 20. All of it is allocated at construction; Bits and Bytes tell how much.
//
// Theorem 1 of the paper, with k = ceil(1/eps), N for the window and logarithms to base 2, bounds
//
//	the buckets      (k/2 + 1) * (log(2N/k + 1) + 1)
//	bits per bucket  log N + log log N, for the end and for the exponent of the size
//
// and a lower bound of order (1/eps) log^2 N says that no other way needs fewer by more than a
// constant factor. Here all levels keep 1/(2 eps) buckets, where the paper's argument has the
// lowest keep about twice as many: the newest event of the oldest bucket is known to be in the
// window, and that is enough (see shape.go). The tests hold Bits, with every word of the state, to
// less than twice that bound for windows of 1,000 events or more. Below, three words that do not
// depend on the window weigh more than the buckets.
//
// # Concurrency
//
// All verbs may be called from any number of goroutines, and all on one histogram are linearizable.
// Unlike the rings of this module a histogram is not lock-free: one event may merge buckets of
// every size, and no word holds them all. Each has a mutex that a caller holds for the length of
// one call. Counting an event merges less than one pair of buckets on average, and one of every
// size at most; counting n at once takes O((1/eps) log n), and a reading or a denial, which writes
// nothing, O(log most + log (1/eps)). A goroutine that is stopped by the scheduler inside a call
// delays the others on that histogram until it runs again. No call allocates.
package exphist
