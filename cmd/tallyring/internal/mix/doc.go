// Package mix makes the traffic of a few kinds of clients, so that windows can be compared on
// requests whose nature is known.
//
//	steady     requests a little apart, the gaps between half and one and a half of their mean
//	bursty     bursts of up to twice the load at ten times the pace of the limit, then a pause
//	retrying   steady, but a request that the exact log denies comes again, up to ten times, each
//	           a tenth to a twentieth of the window later
//	adversary  the whole limit at the last nanosecond of a bucket, and again one nanosecond less
//	           than a window later, when that bucket weighs next to nothing; then a pause
//
// One trace of the adversary is aimed at every ring at once: the turn of a window is the turn of a
// bucket of every width that divides it, and the oldest bucket of every ring reaches back to there.
//
// The requests depend on the parameters and the seed alone, on every machine: what is drawn are
// integers, and the few divisions of floats are single operations.
package mix
