package exphist

import (
	"fmt"
	"math"
	"math/bits"
)

const (
	// MaxCount is the largest most that a histogram can be made for.
	MaxCount uint64 = 1 << 62

	// MaxEvents is the largest number of last events that a histogram can be made for.
	MaxEvents uint64 = 1 << 60

	// MaxBytes is the most memory that a histogram may take, 128 MiB. An eps that needs more is
	// refused: it is far below any at which a histogram is smaller than the log.
	MaxBytes = 1 << 27
)

const (
	// headerBits is the state that is not packed: newest, total and over.
	headerBits = 3 * 64

	// positionBits is what Events has beside that.
	positionBits = 64

	// What Bytes takes a Histogram and an Events to weigh without its rows, as the allocator rounds
	// it on a 64-bit machine. Asserted in the tests.
	histogramBytes = 176
	eventsBytes    = 176
)

// shape is what the arguments of a constructor come to. It never changes.
//
// Level i holds buckets of size 2^i. Let h be slots-1. A level that would hold h+2 gives its two
// oldest to the next level as one, and keeps h; so each level below a level in use has h or more.
// Let the oldest bucket be of size s. Of it the newest event, at least, is still in the window, and
// the lower levels hold h(s-1) or more, so that Low, the least true count, is
//
//	Low >= 1 + h(s-1)
//
// The estimate, halfway between Low and High = Low + s-1, is off by at most (s-1)/2, which is less
// than Low/(2h), and that is at most eps*Low for h >= 1/(2 eps).
//
// A bucket of size 2^levels is never made of holds = slots*(2^levels - 1) events or fewer: level
// levels-1 would then hold h+2 buckets and each lower one h, which is holds+1 events at least.
type shape struct {
	span       int64  // W in nanoseconds, or N in events
	most       uint64 // the largest true count, and limit, that is promised to fit
	slots      int    // buckets to a level, h+1
	levels     int
	holds      uint64 // the most that all levels hold
	byEstimate bool   // decisions go by the estimate and not by High
}

// newShape returns the shape for true counts up to most, within eps.
func newShape(span int64, eps float64, most uint64, options []Option) (shape, error) {
	if err := validate(eps, most); err != nil {
		return shape{}, err
	}
	s := shape{span: span, most: most, levels: 1}
	// With most slots, one level is exact, so that no more are ever of use.
	slots := max(most, 2)
	if half := math.Ceil(1 / (2 * eps)); half < float64(slots) {
		slots = uint64(half) + 1
	}
	if slots <= MaxBytes {
		s.slots = int(slots)
		s.grow()
	}
	if size := s.wordBytes(); slots > MaxBytes || size > MaxBytes {
		return shape{}, fmt.Errorf("exphist: eps %v with counts up to %d takes more than %d MiB, "+
			"want a larger eps or a lower most", eps, most, MaxBytes>>20)
	}
	for _, option := range options {
		if option != nil {
			option(&s)
		}
	}
	return s, nil
}

func validate(eps float64, most uint64) error {
	switch {
	case !(eps > 0 && eps <= 1): // NaN too
		return fmt.Errorf("exphist: eps is %v, want a relative error above 0 and at most 1, "+
			"such as 0.1", eps)
	case most == 0 || most > MaxCount:
		return fmt.Errorf("exphist: most is %d, want the largest count to be told apart, "+
			"1 to %d", most, MaxCount)
	}
	return nil
}

// grow finds the fewest levels that hold most. What is held is High, which is above the true count
// by up to the size of the oldest bucket less one. Since slots <= most where one level is not
// enough, holds stays below 11/3*most + 2, which 64 bits hold.
func (s *shape) grow() {
	for {
		oldest := uint64(1) << (s.levels - 1)
		s.holds = uint64(s.slots) * (2*oldest - 1)
		if s.holds-(oldest-1) >= s.most {
			return
		}
		s.levels++
	}
}

// endBits is the width of a bucket's end: ends that are in the window at one time are told apart
// modulo 2^endBits.
func (s *shape) endBits() uint { return uint(max(bits.Len64(uint64(s.span-1)), 1)) }

// ringBits is the width of a level's ring: the place of its oldest bucket and their number.
func (s *shape) ringBits() uint { return 2 * s.countBits() }

func (s *shape) countBits() uint { return uint(bits.Len(uint(s.slots))) }

// wordBytes is the memory behind the rows of ends and rings. A shape that is refused for it has at
// most MaxBytes slots and 62 levels, so the products need 64 bits.
func (s *shape) wordBytes() int64 {
	ends := (int64(s.slots)*int64(s.levels)*int64(s.endBits()) + 63) / 64
	return 8 * (ends + int64(wordsFor(s.levels, s.ringBits())))
}

// stateBits is the bits of the state, without what rounds them up to words.
func (s *shape) stateBits() int {
	return s.levels*(s.slots*int(s.endBits())+int(s.ringBits())) + headerBits
}

// Option changes how a histogram decides.
type Option func(*shape)

// WithEstimate makes decisions go by the estimate: an event passes if the estimate plus its cost,
// rounded up, stays within the limit. Without it they go by the high reading. See the package
// comment for what each promises.
func WithEstimate() Option { return func(s *shape) { s.byEstimate = true } }
