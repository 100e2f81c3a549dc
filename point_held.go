//go:build tallyring_hold

package tallyring

import "sync/atomic"

// Holding tells whether goroutines can be held at points in this build.
const Holding = true

// watcher is what Watch was last given.
type watcher struct {
	at   func(Point)
	seat func() int
}

var watching atomic.Pointer[watcher]

// AtPoint says that the calling goroutine has come to a point. Each call is guarded by Holding.
func AtPoint(p Point) {
	if w := watching.Load(); w != nil {
		w.at(p)
	}
}

// Watch has at called at every point, by the goroutine that has come there, and makes Pin return
// what seat returns, without pinning; nils end that. It is for tests that hold goroutines.
func Watch(at func(Point), seat func() int) {
	if at == nil || seat == nil {
		watching.Store(nil)
		return
	}
	watching.Store(&watcher{at, seat})
}
