package replay

import (
	"time"

	"github.com/tallyring/tallyring"
)

// peak returns the most requests of one key that fall into any interval (t-window, t], among those
// for which counted holds. The indexes are of one key, in the order of time.
//
// The most is reached at the tick of a counted request, so it is enough to look there. The tail
// follows the head and never passes it: both move over the key's requests once.
func (e *Events) peak(of []uint32, window time.Duration, counted func(i int) bool) int {
	most, inside, tail := 0, 0, 0
	for _, i := range of {
		if !counted(int(i)) {
			continue
		}
		inside++
		start := e.list[i].tick - tallyring.Tick(window)
		for e.list[of[tail]].tick <= start {
			if counted(int(of[tail])) {
				inside--
			}
			tail++
		}
		most = max(most, inside)
	}
	return most
}
