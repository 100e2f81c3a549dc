//go:build !tallyring_hold

package tallyring

// Holding tells whether goroutines can be held at points in this build. It is a constant, so that
// what it guards vanishes where they cannot.
const Holding = false

// AtPoint says that the calling goroutine has come to a point. Each call is guarded by Holding.
func AtPoint(Point) {}

// Watch does nothing in this build. With the tag tallyring_hold it has at called at every point, by
// the goroutine that has come there, and makes Pin return what seat returns, without pinning; nils
// end that. It is for tests that hold goroutines.
func Watch(at func(Point), seat func() int) {}
