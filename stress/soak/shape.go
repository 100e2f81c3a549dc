package main

import "github.com/tallyring/tallyring"

// kind says what a window makes of its oldest bucket.
type kind int

const (
	interpolated kind = iota // its part that is still inside counts
	whole                    // all of it counts: a strict window, or a fixed one
	exactLog                 // there are no buckets: each event counts for the window's length
)

// shape says how a window counts: which ticks share a bucket, how long they count, and what a limit
// leaves. It is the contract of the engine in plain integers, and shares no code with it.
//
// A log has no buckets. Its ticks are divided by a width of our choice, of which slots make up its
// length, so that the same account serves it.
type shape struct {
	kind       kind
	widthNanos int64
	slots      int64
}

// shapeOf returns the shape of a ring.
func shapeOf(w tallyring.Window) shape {
	s := shape{widthNanos: int64(w.Width), slots: int64(w.Slots)}
	if w.Strict || w.Slots == 1 {
		s.kind = whole
	}
	return s
}

// logOf returns the shape of a log of a given length.
func logOf(lengthNanos, slots int64) shape {
	return shape{exactLog, lengthNanos / slots, slots}
}

// bucket returns the bucket of a tick; negative ticks count as 0.
func (s shape) bucket(at tallyring.Tick) int64 { return max(int64(at), 0) / s.widthNanos }

// start returns the first tick of a tick's bucket.
func (s shape) start(at tallyring.Tick) tallyring.Tick {
	return tallyring.Tick(s.bucket(at) * s.widthNanos)
}

// oldest returns the oldest bucket of which all ticks count at now.
func (s shape) oldest(now tallyring.Tick) int64 {
	if s.kind == exactLog {
		return max(0, floorDiv(int64(now)-s.widthNanos*s.slots, s.widthNanos)+1)
	}
	return max(0, s.bucket(now)-s.slots+1)
}

// alone returns a tick at which a bucket is the oldest that counts.
func (s shape) alone(bucket int64) tallyring.Tick {
	if s.kind == exactLog {
		return tallyring.Tick((bucket+s.slots)*s.widthNanos - 1)
	}
	return tallyring.Tick((bucket + s.slots - 1) * s.widthNanos)
}

// leaves returns the first tick at which an event that was counted at a tick counts no more.
func (s shape) leaves(at tallyring.Tick) tallyring.Tick {
	if s.kind == exactLog {
		return max(at, 0) + tallyring.Tick(s.slots*s.widthNanos)
	}
	return tallyring.Tick((s.bucket(at) + s.slots) * s.widthNanos)
}

// same tells whether an event decided between two ticks was surely counted where the first of them
// is, as far as a refund must know it.
func (s shape) same(from, to tallyring.Tick) bool {
	if s.kind == exactLog {
		return max(from, 0) == max(to, 0)
	}
	return s.bucket(from) == s.bucket(to)
}

// room returns how many events of cost 1 a limit leaves at now, where held are the counts of the
// buckets from oldest(now) on, and high is all that counts. A product of a count and a width stays
// far below 2^63 for the windows of this command.
func (s shape) room(held []uint64, high uint64, now tallyring.Tick, limit uint64) uint64 {
	width := uint64(s.widthNanos)
	scaled := high * width
	if s.kind == interpolated && int64(len(held)) == s.slots {
		scaled -= held[0] * uint64(max(int64(now), 0)%s.widthNanos)
	}
	if scaled > limit*width {
		return 0
	}
	return (limit*width - scaled) / width
}

func floorDiv(a, b int64) int64 {
	quotient := a / b
	if a%b < 0 {
		quotient--
	}
	return quotient
}
