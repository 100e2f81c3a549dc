package pertcore

import (
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// maxShards bounds the memory of a counter and the work of a read.
const maxShards = 256

// shardsNow returns the number of shards for this machine: a power of two, and one for each P that
// there is or that the machine has processors for.
func shardsNow() int {
	wanted := max(runtime.GOMAXPROCS(0), runtime.NumCPU())
	return min(1<<bits.Len(uint(wanted-1)), maxShards)
}

// shardOf returns the shard of the calling goroutine's P.
func shardOf(shards int) int {
	id := tallyring.Pin()
	tallyring.Unpin()
	return id & (shards - 1)
}

// Counter counts the events of one window on a ring per P. All methods may be called from any
// number of goroutines; none blocks or allocates. A Counter must not be copied.
//
// A read merges the rings, each as of the same tick. It may miss adds that had not returned when it
// began, and no other.
type Counter struct {
	rings  []*atomicring.Ring
	window tallyring.Window
	newest atomic.Int64 // tick at which the newest bucket of any ring starts; never moves back
}

// NewCounter returns an empty counter, or the error of atomicring.New.
func NewCounter(w tallyring.Window) (*Counter, error) {
	widest, err := atomicring.NewTagged(w, 0)
	if err != nil {
		return nil, err
	}
	c := &Counter{rings: make([]*atomicring.Ring, shardsNow()), window: w}
	for i := range c.rings {
		if c.rings[i], err = atomicring.NewFor(w, widest.MaxLimit()); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Add counts events in the bucket of now, late or not. If that bucket has left the ring they are
// dropped, and Add returns false.
func (c *Counter) Add(now tallyring.Tick, count uint64) bool {
	now = max(now, 0)
	newest := tallyring.Tick(c.newest.Load())
	switch {
	case now < newest && c.left(now, newest):
		return false
	case count == 0:
		return true // nothing is counted, so no bucket becomes the newest
	case now-newest >= tallyring.Tick(c.window.Width):
		c.turn(now)
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.CounterAdd)
	}
	return c.rings[shardOf(len(c.rings))].Add(now, count)
}

// turn makes the bucket of now the newest, unless a newer one is. It comes before the add, so that
// who sees the count sees the bucket.
func (c *Counter) turn(now tallyring.Tick) {
	start := int64(now) - int64(now)%int64(c.window.Width)
	for {
		newest := c.newest.Load()
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.CounterTurn)
		}
		if newest >= start || c.newest.CompareAndSwap(newest, start) {
			return
		}
	}
}

// left tells whether the bucket of a late tick has left the ring whose newest bucket starts at
// newest.
func (c *Counter) left(now, newest tallyring.Tick) bool {
	oldest := newest - tallyring.Tick(c.window.Slots-1)*tallyring.Tick(c.window.Width)
	return now < oldest
}

// Read returns what the window holds at now, with its error.
//
// A ring moves on to a bucket only after newest has. If newest is within the bucket of now still
// after the last ring was read, then each was read as of now. If it is not, Read begins again,
// after another goroutine's progress.
func (c *Counter) Read(now tallyring.Tick) tallyring.Reading {
	for {
		now = max(now, tallyring.Tick(c.newest.Load()))
		sum := c.merge(now)
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.CounterConfirm)
		}
		if tallyring.Tick(c.newest.Load()) <= now {
			return sum
		}
	}
}

// merge adds up the rings as of now.
func (c *Counter) merge(now tallyring.Tick) tallyring.Reading {
	var sum tallyring.Reading
	for _, ring := range c.rings {
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.CounterMerge)
		}
		r := ring.Read(now)
		sum.Low = saturated(sum.Low, r.Low)
		sum.High = saturated(sum.High, r.High)
	}
	width := int64(c.window.Width)
	sum.Estimate = float64(sum.High)
	if !c.window.Strict {
		left := float64(width-int64(now)%width) / float64(width)
		sum.Estimate = float64(sum.Low) + float64(sum.High-sum.Low)*left
	}
	return sum
}

// saturated returns a + b, or the most that there is.
func saturated(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// Estimate returns the weighted count of the window at now.
func (c *Counter) Estimate(now tallyring.Tick) float64 { return c.Read(now).Estimate }

// Shards returns over how many lines the counts are spread.
func (c *Counter) Shards() int { return len(c.rings) }

// Bytes returns the memory of the counts, padding included.
func (c *Counter) Bytes() int { return len(c.rings) * c.rings[0].Bytes() }
