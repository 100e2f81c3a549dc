package atomicring

import (
	"testing"

	"github.com/tallyring/tallyring"
)

// hurried tells whether rounds must be fewer: under the race detector, whose builds have no
// native pair, or where the tests were asked to be short.
func hurried() bool { return testing.Short() || !tallyring.PairLockFree() }

// rounds returns how often to repeat: often, or a fifth of that where each takes much longer.
func rounds(often int) int {
	if hurried() {
		return often/5 + 1
	}
	return often
}
