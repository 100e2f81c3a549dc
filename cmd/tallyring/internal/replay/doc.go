// Package replay runs the requests of a log through rate limits, and says what each scheme of
// counting would have done about them compared with the exact log.
//
// # How
//
// All requests are held in memory: 16 bytes for each, 8 more for the indexes by key and one bit for
// each of two decisions, and for each distinct key its text and about 100 bytes. The engine of one
// scheme comes on top, for 65,536 keys at a time: a ring takes about 11 bytes for each slot of each
// key, the log 16 to 32 bytes for each admitted request in the window.
//
// [Events.Sort] puts the requests into the order of time, where those of one tick keep the order in
// which they were added. [Run] then takes one scheme after the other, each with an engine of its
// own that has seen nothing but this log, and gives it every request in that order, one batch
// of keys after the other. Each scheme counts what it has admitted itself.
//
// # Words
//
// A scheme is one way of counting: "log" keeps the tick of every admitted request and is exact over
// (t-W, t]; "fixed" has one bucket as long as the window; "sliding" is a ring of buckets whose
// oldest is weighed by the part of it still inside the window; "strict" is a ring whose oldest
// bucket counts whole. A wrong allow is a request that the exact log denied and the scheme
// admitted; a wrong deny is the reverse. The trailing count of a key at t is how many of its
// requests fall into (t-W, t].
package replay
