package tallyring

import (
	"fmt"
	"time"
)

const (
	// MaxSlots is the most slots that a window may have. A reading visits each slot once.
	MaxSlots = 1 << 16

	// MaxLength is the longest window: ten years, three leap days included. Ticks that lie this far
	// apart are still told apart by every layout of the engine.
	MaxLength = 3653 * 24 * time.Hour
)

// Window says over which span of time events are counted, and at which resolution.
type Window struct {
	Slots  int           // counters in the ring: 1 is the fixed window, 2 is previous + current
	Width  time.Duration // span of one bucket
	Strict bool          // the oldest bucket counts whole; needs Slots >= 2
}

// Length returns the span that the window covers: (Slots-1)*Width, or Width for one slot.
func (w Window) Length() time.Duration {
	return time.Duration(max(w.Slots-1, 1)) * w.Width
}

// Validate returns nil, or an error that names the first field that is wrong and what would be
// right.
func (w Window) Validate() error {
	switch {
	case w.Slots < 1 || w.Slots > MaxSlots:
		return fmt.Errorf("tallyring: window has %d slots, want 1 to %d", w.Slots, MaxSlots)
	case w.Width <= 0:
		return fmt.Errorf("tallyring: window width is %v, want more than 0", w.Width)
	case w.Strict && w.Slots < 2:
		return fmt.Errorf("tallyring: strict window has %d slot, want 2 or more: "+
			"a fixed window has no oldest bucket to count whole", w.Slots)
	case w.Width > MaxLength/time.Duration(max(w.Slots-1, 1)):
		return fmt.Errorf("tallyring: window of %d slots of width %v is longer than %v, "+
			"want fewer slots or a smaller width", w.Slots, w.Width, MaxLength)
	}
	return nil
}
