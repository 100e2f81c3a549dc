// Package linear checks that the engine's decisions have an order: histories of calls that several
// goroutines made at once on one ring, one key of a table, or one sharded limiter are recorded, and
// the checker porcupine looks for an order in which a plain sequential model gives the same
// answers. All of it is in the tests.
//
//	event      Allow, Take, Observe or Add: what may count something
//	script     what each goroutine is going to do: ticks around a bucket's end, above all
//	history    what they did, each call with a stamp before it and one after
//	subject    the ring, key or limiter that a script drives
//	model      the S-rules of DESIGN.md as a state and a step, plain and slow
//	turn       an event on its way to a newer bucket has moved the ring there, and is not counted
//
// # What is checked
//
// Every answer of Allow, and of Take whether it admits and when it counted (At). Where nothing is
// refunded out of an older bucket, also the rest of Take's answer, and Read, of rings and keys:
// their package comments let a reader miss late Adds and refunds on older buckets, and nothing
// else. A sharded limiter promises less of a Read and of what a Take says remains, an interval,
// which package litmus checks; so its histories have readings at rest only. Every history ends with
// those, as of each bucket in turn, so that a count that was lost or invented shows.
//
// Token buckets, alone and in a table's cells, have one word each, and a model of their own: every
// call is within the order, late ones and refunds too, and answers are compared whole.
//
// Late Adds of rings are not in these histories: the order that S11 promises does not cover them.
// Refunds race with a turn in some, and so may reach a bucket that is no longer the newest.
// Verdicts are within the order then too: counts of older buckets only fall, so a denial that has
// seen one before the refund was right when it began, and an admission is right still.
//
// # The turn
//
// A packed ring turns and counts by one swap, and its histories must be those of the model. A
// tagged ring turns first, in steps that anyone may finish, and counts then: an event that the
// limit admits moves the ring to its bucket and tests again (S3), and may be denied if others were
// faster. Until it is counted, and for good if it is denied, others find the newer bucket and are
// late for it: they are decided as of its begin, and counted in it, as Take's At says. The
// definition of the newest bucket (S7: one that something was counted in, which a denial never
// moves) is true of packed rings at every moment, and of tagged ones when no event is under way
// that was admissible in a newer bucket; all promises about ticks as counted hold in both.
//
// So where no order explains a history of a tagged ring, one is looked for in which each event may
// have moved the ring on, at a moment of its call when the limit admitted it. A key's cell is made
// in the same way before its first event is counted, and it is lost to another key when its time
// has passed. Such histories are counted, and the self tests show how little is excused.
package linear
