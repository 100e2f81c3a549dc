// Package claims runs what the documents that tallyring is built from say about windows, and
// compares. Each claim names what was run, the figure that came out, and a verdict: reproduced,
// only under a condition that it then names, not reproduced, or not reproducible at all, where the
// document does not say what it was read on.
//
// Everything is run on the engine's own rings and logs, in virtual time. The figures are the same
// on every machine, but for the bytes of a log and of a histogram on one of 32 bits.
package claims
