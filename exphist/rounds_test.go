package exphist

import (
	"testing"

	"github.com/tallyring/tallyring"
)

// rounds returns how often to repeat: often, or a tenth of that under the race detector, whose
// builds have no native pair, or where the tests were asked to be short.
func rounds(often int) int {
	if testing.Short() || !tallyring.PairLockFree() {
		return often/10 + 1
	}
	return often
}
