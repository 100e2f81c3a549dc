// Package report writes what was measured: as text that benchstat reads, and as one HTML page for
// people, which needs nothing beside itself. Both say on which machine, with which Go, from which
// commit and by which command. Losses computes where the engine is not the fastest.
package report
