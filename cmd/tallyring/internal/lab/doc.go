// Package lab measures how far each kind of window is from the exact log.
//
// # How
//
// Keys do not know of each other, so [Run] takes one key after the other: its requests go through
// a window of its own of every [Kind], twice. What is held at one time is one key's windows.
//
// In the open loop every request is counted, whatever is decided about it. The true count of a
// request is how many of its key's requests, itself included, fall into (t-W, t]; it is over the
// limit if that is more than the limit. Each kind is asked the same of its estimate. This is how
// the error of an estimate is told apart from its consequences.
//
// In the closed loop each kind counts what it has admitted itself, as a limiter does, and its
// decisions are compared with those of the exact log, which counts what it has admitted itself.
//
// # Words
//
// A wrong allow is a request that the exact log denies and the window admits, a wrong deny the
// reverse; in the open loop, that is over the limit and is taken not to be, and the reverse. Both
// are given per request and per over-limit request: the first shrinks with every client that is
// far from the limit, the second does not. A source is a key; it is over the limit if it ever is. A
// difference is (estimate - true count) / true count.
//
// The true counts are computed by package lab itself, in the plainest way; the log is a kind like
// the others, and has to show no error.
package lab
