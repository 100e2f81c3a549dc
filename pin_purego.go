//go:build purego && !tallyring_hold

package tallyring

import (
	"math/rand/v2"
	"runtime"
)

// Pin returns an id below GOMAXPROCS, drawn at random. Whoever uses it to spread writes stays
// right: two goroutines may draw the same id in every build, if one is moved to another P.
func Pin() int { return int(rand.Uint32N(uint32(runtime.GOMAXPROCS(0)))) }

// Unpin does nothing here.
func Unpin() {}
