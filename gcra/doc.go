// Package gcra is the token bucket, in one word: events come at a rate, and after a pause up to a
// burst of them at once. It is the virtual scheduling form of the generic cell rate algorithm
// (ITU-T Recommendation I.371, annex A). It keeps no tokens, which would have to be refilled, but
// the instant at which all that was admitted is paid for.
//
//	Bucket   one bucket
//	Rate     the layout of a bucket's word, and its transitions, which are pure
//
// # Words
//
//   - interval: the time that pays for one event of cost 1, per/events; it may be any fraction.
//   - unit: a whole part of the interval, at most 1 ns. Every charge and every refund is a whole
//     number of units, so nothing drifts, whatever the rate and however many there are.
//   - due: the unit at which all that was charged is paid for, the theoretical arrival time of the
//     Recommendation. A bucket is full once that is past.
//   - debt: the units until then, 0 for a full bucket. An event passes if the debt, with what the
//     event is charged, stays within the burst.
//   - span: a power of two of units, no shorter than the largest burst takes to refill. A word says
//     in which span it was last charged, and how far after the start of that span it is due.
//
// # What is exact
//
// A tick counts as the unit that it falls in. On that clock a bucket is exact over any elapsed
// time, and so are its waits. A nanosecond is a whole number of units, and the clock rounds
// nothing, where events and per in lowest terms have at most seven events, as 1, 10, 60 and 500 per
// second have, or 100 per minute (if the burst refills within two months). Any other clock is
// rounded down: between two ticks a and b, no more pass than burst plus (b-a)/interval, plus less
// than a unit's part of one event. That does not add up: it is the same for the longest time.
// (Rounded up, where a full bucket begins to be charged, the last event of a burst at one tick
// would be denied.)
//
// # Time
//
// Spans are numbered modulo a power of two and compared by signed distance. Every layout has enough
// bits that ticks up to [tallyring.MaxLength] apart are told apart. The span of a word never moves
// back: an event of an earlier one is late, and is decided and charged as of the start of the
// word's span. Within a span a late tick sees less refill than the newest. So none mints anything.
// Negative ticks count as 0.
//
// # Debt and refunds
//
// What is charged without asking, by Add or under the burst [tallyring.Unlimited], may make more
// debt than a burst allows. It ends at [Rate.MaxBurst]: what goes beyond is forgotten.
//
// A refund takes units back, as long as the word is in the span of the event or in the next one. In
// any stretch of ticks, what is admitted, less what is refunded, is at most the burst and what the
// stretch pays for. Who refunds an event that time has paid for already gains another one.
//
// # What a table may rely on
//
// A word is laid out as a ring of two buckets is in package atomicring, with spans for buckets, so
// that what holds for such a ring as a cell's state holds here:
//
//   - The topmost bit is 0. It is the caller's, as the mark of a cell that is not settled; no
//     transition is given a word that has it.
//   - Below it lies the index of the span. No transition moves it back, and a refund leaves it as
//     it is. A word of an index and nothing else is a full bucket from the start of that span.
//   - A word is due before the second span after its own begins. Where [Rate.Expired] says yes its
//     key is as good as new; and if the cell then changes hands, its index moves on by two or more,
//     so that no word comes back that the old key has seen, however it was charged and refunded.
//   - A refund that names an event of an older span than the one before the word's does nothing. So
//     none reaches from one life of a key into its next.
//   - Under the index are 31 bits or more, for the ticket of a marked word.
//
// Within one life of a key words do come back, by refunds. That does no harm: a transition is a
// function of the word and its arguments alone. Word 0 was never charged, whatever index it may
// have, so it takes any first tick; that matters only where an index comes round to 0, after twenty
// years or more.
package gcra
