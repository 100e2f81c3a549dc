// Package litmus runs small named races over and over and compares how they end with a list: each
// outcome that the contract permits, with the interleaving that yields it. Any other outcome fails,
// and so does a race in which a listed outcome never appeared, unless it is marked as rare. It also
// checks intervals: what a reader finds lies between the events that had ended when it began and
// those that had begun when it ended. All of it is in the tests.
//
//	move      what one goroutine does, once
//	race      two moves or three on a fresh ring, key or limiter
//	outcome   the answers of all moves, and what is counted when they are done
//	rare      needs a goroutine to be stopped between two steps of one call
//
// A race is run under GOMAXPROCS 1, 2, 4 and 16, and while that changes, with goroutines that begin
// together or a little apart. With the race detector the stand-ins for assembly run, and without it
// the assembly.
//
// # The turn under way
//
// Some outcomes exist for tagged rings alone, and are marked so: an event that is admissible in a
// newer bucket moves the ring there first and is counted then, so others may already be late for a
// bucket that counts nothing yet. See package linear.
package litmus
