package limiter

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/pertcore"
)

// WithHotKeys names keys that all processors decide on at once, such as a whole service or one
// upstream. Each gets a window of its own that is spread over the processors (package pertcore): as
// exact as a cell of the table, and without a line that all of them write, as long as it is far
// from its limit. It takes a line per processor and key, and each decision on another key looks
// once more. A window of two buckets or more suits it best. It contradicts WithLog.
func WithHotKeys(keys ...string) Option {
	return func(s *settings) { s.hot = keys }
}

// hotKeys are the spread windows. Their map never changes, and a window's limit is its own.
type hotKeys struct {
	windows map[Key]*pertcore.Limiter
	own     map[Key]bool // keys that common changes pass by; its owner holds Limiter.changing
}

// newHotKeys returns nil where no key is hot.
func newHotKeys(keys []string, w tallyring.Window, limit, largest uint64) (*hotKeys, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	h := &hotKeys{windows: map[Key]*pertcore.Limiter{}, own: map[Key]bool{}}
	for _, key := range keys {
		window, err := pertcore.NewLimiter(w, limit)
		if err == nil && largest > window.MaxLimit() && largest != tallyring.Unlimited {
			err = fmt.Errorf("limit %d is above %d, the most that a hot key can hold: "+
				"want a lower limit or a larger width", largest, window.MaxLimit())
		}
		if err != nil {
			return nil, fmt.Errorf("hot key %q: %w", key, err)
		}
		h.windows[hashText(key)] = window
	}
	return h, nil
}

// of returns the window of k, or nil.
func (h *hotKeys) of(k Key) *pertcore.Limiter {
	if h == nil {
		return nil
	}
	return h.windows[k]
}

// maxLimit returns the largest limit that the windows hold, at most most.
func (h *hotKeys) maxLimit(most uint64) uint64 {
	if h == nil {
		return most
	}
	for window := range maps.Values(h.windows) {
		most = min(most, window.MaxLimit())
	}
	return most
}

// setLimit changes the limit of every hot key that has none of its own. Limiter.changing is held.
func (h *hotKeys) setLimit(limit uint64) error {
	if h == nil {
		return nil
	}
	for k, window := range h.windows {
		if h.own[k] {
			continue
		}
		if err := window.SetLimit(limit); err != nil {
			return fmt.Errorf("limiter: %w", err)
		}
	}
	return nil
}

// setKeyLimit changes the limit of one hot key; own says whether common changes pass it by then.
// Limiter.changing is held.
func (h *hotKeys) setKeyLimit(k Key, limit uint64, own bool) error {
	if h.of(k) == nil {
		return nil
	}
	h.own[k] = own
	if err := h.windows[k].SetLimit(limit); err != nil {
		return fmt.Errorf("limiter: %w", err)
	}
	return nil
}

// bytes returns the memory of the windows.
func (h *hotKeys) bytes() int {
	total := 0
	if h != nil {
		for _, window := range slices.Collect(maps.Values(h.windows)) {
			total += window.Bytes()
		}
	}
	return total
}
