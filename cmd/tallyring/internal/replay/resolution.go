package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tallyring/tallyring"
)

// Resolution is the number of buckets that the window is divided into: 1 or more.
type Resolution int

// DefaultResolutions are those of 1m, 10s and 1s in a window of one minute.
var DefaultResolutions = []Resolution{1, 6, 60}

// Slots returns how many slots a ring of this resolution has.
func (r Resolution) Slots() int { return int(r) + 1 }

// In names the width of a bucket in a window: a duration where that is a whole number of
// nanoseconds, else a fraction.
func (r Resolution) In(window time.Duration) string {
	if window%time.Duration(r) == 0 {
		return (window / time.Duration(r)).String()
	}
	return fmt.Sprintf("1/%d", int(r))
}

// ParseResolutions reads a list such as "1m,10s,1/60": widths that divide the window, as durations
// or as fractions of the window. A fraction need not be a whole number of nanoseconds.
func ParseResolutions(list string, window time.Duration) ([]Resolution, error) {
	var all []Resolution
	for _, text := range strings.Split(list, ",") {
		r, err := parseResolution(strings.TrimSpace(text), window)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if r == other {
				return nil, fmt.Errorf("resolution %q is there twice, want each width once", text)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

func parseResolution(text string, window time.Duration) (Resolution, error) {
	if parts, ok := strings.CutPrefix(text, "1/"); ok {
		n, err := strconv.Atoi(parts)
		if err != nil || n < 1 || n >= tallyring.MaxSlots {
			return 0, fmt.Errorf("resolution %q is no part of the window, want 1/1 to 1/%d",
				text, tallyring.MaxSlots-1)
		}
		return Resolution(n), nil
	}
	width, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("resolution %q is no duration, want such as 10s, or 1/6 for a sixth "+
			"of the window", text)
	case width <= 0 || width > window:
		return 0, fmt.Errorf("resolution %v does not fit the window %v, want more than 0 and at "+
			"most the window", width, window)
	case window/width >= tallyring.MaxSlots:
		return 0, fmt.Errorf("resolution %v cuts the window %v into more than %d buckets, want a "+
			"longer one", width, window, tallyring.MaxSlots-1)
	case window%width != 0:
		return 0, fmt.Errorf("resolution %v does not divide the window %v, want %s",
			width, window, nearby(width, window))
	}
	return Resolution(window / width), nil
}

// nearby proposes a width close to one that does not divide the window.
func nearby(width, window time.Duration) string {
	parts := max((window+width/2)/width, 1)
	if window%parts == 0 {
		return fmt.Sprintf("such as %v", window/parts)
	}
	for away := range time.Duration(1000) {
		for _, p := range [2]time.Duration{parts + away, parts - away} {
			if p >= 1 && window%p == 0 {
				return fmt.Sprintf("such as %v, or 1/%d of the window", window/p, parts)
			}
		}
	}
	return fmt.Sprintf("such as 1/%d of the window", parts)
}
