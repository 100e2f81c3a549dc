// Command soak drives every structure of the engine at once, for as long as it is told to, and
// holds each of them against an oracle that keeps exact accounts:
//
//	go run ./stress/soak -for 10m
//	go run ./stress/soak -for 30s -seed 7 -goroutines 16
//
// It prints a report, and ends with status 1 and one line at the first violation. An interrupt ends
// it early, with the report.
//
// # Rounds
//
// A run is a row of rounds, and a round has two parts, each of which ends at rest: no goroutine
// runs, so what was counted can be compared with what the structure says.
//
//   - In the storm all goroutines decide, count, take back, read and change limits, while time
//     moves on, stands, or is late for some of them, and GOMAXPROCS changes.
//   - In the fill time stands, nothing is taken back, and all of them ask for one event at a time
//     until they are denied. So exactly what the limit leaves must pass.
//
// Between two rounds time may jump, by up to years. After a number of rounds all structures are
// made anew, at another origin of time, often where some layout's bucket index is about to wrap.
//
// # Accounts
//
// Each goroutine writes a book of its own for each window, with what was admitted and where it may
// have been counted: an event that was decided at a tick of bucket a, and whose call had ended when
// time was still in bucket b, lies in one of the buckets a to b. Take says where exactly. That
// costs two loads of the time for some dozen decisions. At rest the books are added up, the
// structure is read at the ticks at which one bucket after another leaves its window, which tells
// how many events each bucket holds, and for every row of buckets that sum must lie between what
// certainly was counted there and what may have been. Over all buckets the two are the same.
//
// # Words
//
//	timeline  the manual clock that all goroutines share; it moves when they move it
//	load      what is done to one structure, with its account
//	window    one ring, log, key or limiter that decides against one limit
//	span      the buckets in one of which an event was counted
//	churn     keys that are new, each asked for by many goroutines at once
//	debtor    a key at its limit, which must be denied while a flood of new keys fills the table
//	ghost     a key that comes back by a tick of its old window, after others have taken its cell
//	trail     narrow strict windows by Take alone: every trailing window is checked tick by tick
//	turn      very many narrow buckets, which turn by the hundred and keep all that they count
//	refill    token buckets that time cannot pay off, so that all they owe is known
//	joint     events that several rates count, or none: nothing that is denied stays counted
//	stretch   events of a histogram, counted between two ticks: its error is held to their sums
//	place     of one who waits: given up, or served in the end, on a clock that calls
//
// # What it does not see
//
// A denial that should not have been, if another goroutine takes the permit later; a decision by an
// old limit just after it was changed; a reading that was wrong only for a moment. Histories of
// single operations show these. Clocks are not part of it: all ticks are the timeline's.
package main
