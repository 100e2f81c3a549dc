//go:build tallyring_hold

package tallyring

import (
	"math/rand/v2"
	"runtime"
)

// Pin returns the id that Watch was told to, or else one below GOMAXPROCS, drawn at random. It pins
// nothing, so that a goroutine can be held before it unpins.
func Pin() int {
	if w := watching.Load(); w != nil {
		return w.seat()
	}
	return int(rand.Uint32N(uint32(runtime.GOMAXPROCS(0))))
}

// Unpin does nothing here.
func Unpin() {}
