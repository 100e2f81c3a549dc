package main

import (
	"fmt"
	"runtime"
)

// heap holds the memory of a run to what the structures say they take.
type heap struct {
	before  uint64 // bytes, without any structure
	highest uint64 // bytes above that, of all looks
	said    int    // what the structures said at that look
}

// The slack is what the smaller books, the maps of keyed logs and limiters, and goroutines may take
// beside what the structures say. A part of it is in proportion: an allocator rounds sizes up.
const (
	slackBytes = 1 << 20
	slackParts = 50
)

// used returns the bytes that are in use once all garbage has been collected.
func used() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// check compares the memory in use, less the books' own, with what the structures say they take.
func (h *heap) check(now uint64, said, own int) error {
	above := now - min(now, h.before+uint64(own))
	if above > h.highest {
		h.highest, h.said = above, said
	}
	if ceiling := uint64(said) + uint64(said)/slackParts + slackBytes; above > ceiling {
		return fmt.Errorf("%d bytes are in use beside the books, the structures say they take %d, "+
			"want at most %d", above, said, ceiling)
	}
	return nil
}
