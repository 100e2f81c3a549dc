// Package atomicring counts events in a ring of buckets and decides on them, lock-free: one ring
// for one limit, without keys. Package table keeps one such ring per key, built from the same
// words.
//
// # Two forms
//
// A window of one or two slots usually fits one 64-bit word, [Packed]: the bucket index and both
// counts, so that every decision is a pure function of that word and one compare-and-swap.
//
//	{bucket index | previous count | current count}
//
// Any other window is a row of words, [Tagged], the head first: the newest bucket's index and its
// count, and a mark that says that the count is sealed. The others hold the older buckets, each
// tagged with its own index. Nothing is ever zeroed: a slot whose tag is not one of the window's
// counts 0.
//
//	{bucket index | sealed | count}
//
// Two words more keep the sum of the older buckets for as long as the newest one lasts, so that a
// decision costs the same at any number of slots.
//
// [New] takes the packed form where it leaves 12 bits or more for a count, and the tagged form
// otherwise; [NewFor] knows the largest limit and takes the packed form where that fits.
//
// # Time
//
// Bucket indexes are stored modulo a power of two and compared by signed distance. Every layout has
// enough bits that ticks up to [tallyring.MaxLength] apart are told apart; a window for which that
// leaves fewer than 8 bits of count is refused at construction. The newest bucket never moves back:
// an Allow with a late tick is decided and counted in the newest bucket, an Add in its own bucket
// or, if that has left the ring, not at all. A denied event moves nothing, but for one case: where
// an event may pass and has turned a tagged ring for that, and others take the last of the limit
// before it is counted, it is denied and the ring stays turned.
//
// # What a concurrent reader may miss
//
// Admissions and denials of one ring are linearizable. Late Adds and refunds on buckets older than
// the newest may be missed by decisions that are already running, and by nothing else.
package atomicring
