package replay

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tallyring/tallyring"
)

// A Timeline turns the ticks of a log into those that an engine is given. Mostly they are the same.
//
// A bucket of 1/6 of 10 s is no whole number of nanoseconds. The engine is then given a finer unit,
// a third of a nanosecond: all ticks and the window are multiplied by scale, and counted from an
// origin that is a multiple of the window, so that buckets begin where they do in Unix time.
type Timeline struct {
	origin tallyring.Tick
	scale  int64
}

// At returns the tick that the engine is given for one of the log.
func (l Timeline) At(tick tallyring.Tick) tallyring.Tick {
	return (tick - l.origin) * tallyring.Tick(l.scale)
}

// ScaleOf returns the least factor that makes the window a multiple of the resolution.
func ScaleOf(r Resolution, window time.Duration) (int64, error) {
	r = max(r, 1)
	a, b := int64(window), int64(r)
	for b != 0 {
		a, b = b, a%b
	}
	scale := int64(r) / a
	if int64(window) > int64(tallyring.MaxLength)/scale {
		return 0, fmt.Errorf("resolution 1/%d of the window %v cannot be counted exactly, want a "+
			"width that divides the window", r, window)
	}
	return scale, nil
}

// NewTimeline returns the Timeline of events for a scale.
func NewTimeline(e *Events, window time.Duration, scale int64) (Timeline, error) {
	span := int64(e.Last() - e.First())
	most := (int64(tallyring.MaxLength) - int64(window)) / scale
	switch {
	case span > most && scale > 1:
		return Timeline{}, fmt.Errorf("the log covers %v, want at most %v, or a resolution "+
			"that is a whole number of nanoseconds", time.Duration(span), time.Duration(most))
	case span > most:
		return Timeline{}, fmt.Errorf("the log covers %v without a pause, want at most %v",
			time.Duration(span), time.Duration(most))
	case scale == 1:
		return Timeline{scale: 1}, nil
	}
	return Timeline{origin: e.First() - e.First()%tallyring.Tick(window), scale: scale}, nil
}

// CloseGaps returns the events with long pauses between them shortened, if they cover so long a
// time that an engine, which tells ticks of ten years apart, might not tell them apart; else the
// events as they are. It takes out whole windows, from pauses of more than three, and leaves two or
// more: by then every scheme has forgotten everything, and buckets begin where they did.
func CloseGaps(e *Events, window time.Duration, scale int64) *Events {
	w := tallyring.Tick(window)
	if int64(e.Last()-e.First()) <= int64(tallyring.MaxLength)/2/scale || w > math.MaxInt64/4 {
		return e
	}
	short := *e
	short.list = slices.Clone(e.list)
	var removed tallyring.Tick
	for i := 1; i < len(e.list); i++ {
		if gap := e.list[i].tick - e.list[i-1].tick; gap > 3*w {
			removed += (gap/w - 2) * w
		}
		short.list[i].tick -= removed
	}
	return &short
}
