package replay

import (
	"time"

	"github.com/tallyring/tallyring"
)

// View is what a page shows beside the findings, all by the exact log.
type View struct {
	BinWidth time.Duration
	Bins     []Bin    // without gaps, from the bin of the first request to that of the last
	Limits   []Effect // of a grid of limits up to one that denies nothing, ascending
}

// Bin is the requests of a stretch of time.
type Bin struct {
	Start            tallyring.Tick
	Admitted, Denied int
}

// Effect is what a limit would do.
type Effect struct {
	Limit  uint64
	Denied int // requests
	Keys   int // that would be denied anything
}

// mostBins is how many bins there are at most: as many as a phone can show.
const mostBins = 96

// Look makes the view of sorted events under a plan.
func Look(e *Events, plan Plan, progress Progress) (View, error) {
	index := e.Index()
	peaks, most := make([]int, len(e.names)), 0
	every := func(int) bool { return true }
	for key := range e.names {
		peaks[key] = e.peak(index.Of(key), plan.Window, every)
		most = max(most, peaks[key])
	}
	v := View{BinWidth: binWidth(time.Duration(e.Last() - e.First()))}
	for _, limit := range limitGrid(plan.Limit, uint64(most)) {
		v.Limits = append(v.Limits, Effect{Limit: limit})
	}
	v.Bins = emptyBins(e.First(), e.Last(), v.BinWidth)
	done := 0
	for key := range e.names {
		if err := v.take(e, index.Of(key), plan, peaks[key]); err != nil {
			return View{}, err
		}
		if before := done / progressEvery; progress != nil {
			if done += len(index.Of(key)); done/progressEvery > before {
				progress(done, e.Len())
			}
		}
	}
	return v, nil
}

// take adds one key's requests. A limit from its peak on denies it nothing.
func (v *View) take(e *Events, of []uint32, plan Plan, peak int) error {
	for n := range v.Limits {
		at := &v.Limits[n]
		if at.Limit != plan.Limit && at.Limit >= uint64(peak) {
			continue
		}
		log, err := Scheme{Name: "log"}.Counter(plan.Window, 1, at.Limit)
		if err != nil {
			return err
		}
		denied := 0
		for _, i := range of {
			tick := e.list[i].tick
			admitted := log.Allow(tick, 1, at.Limit)
			if !admitted {
				denied++
			}
			if at.Limit == plan.Limit {
				v.bin(tick).count(admitted)
			}
		}
		at.Denied += denied
		if denied > 0 {
			at.Keys++
		}
	}
	return nil
}

func (v *View) bin(tick tallyring.Tick) *Bin {
	return &v.Bins[(tick-v.Bins[0].Start)/tallyring.Tick(v.BinWidth)]
}

func (b *Bin) count(admitted bool) {
	if admitted {
		b.Admitted++
	} else {
		b.Denied++
	}
}

// limitGrid returns round limits from 1 to the first that is no less than the highest peak, and
// the plan's own among them.
func limitGrid(own, peak uint64) (grid []uint64) {
	for power := uint64(1); power < 1e18; power *= 10 {
		for _, tenths := range []uint64{10, 12, 15, 20, 25, 30, 40, 50, 60, 80} {
			if tenths*power%10 != 0 {
				continue
			}
			limit := tenths * power / 10
			if n := len(grid); n > 0 && grid[n-1] < own && own < limit {
				grid = append(grid, own)
			}
			grid = append(grid, limit)
			if limit >= max(own, peak) {
				return grid
			}
		}
	}
	return append(grid, own)
}

// binWidths are the widths of bins that people think in.
var binWidths = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second,
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour,
	12 * time.Hour, 24 * time.Hour,
}

// binWidth returns a width of which mostBins cover the span.
func binWidth(span time.Duration) time.Duration { return RoundWidth(span / (mostBins - 1)) }

// RoundWidth returns a round width above least. Below a second it is 1, 2 or 5 of a power of ten,
// above a day a number of days.
func RoundWidth(least time.Duration) time.Duration {
	least++
	for power := time.Duration(1); power < time.Second; power *= 10 {
		for _, step := range []time.Duration{1, 2, 5} {
			if power*step >= least {
				return power * step
			}
		}
	}
	for _, width := range binWidths {
		if width >= least {
			return width
		}
	}
	const day = 24 * time.Hour
	return (least/day + 1) * day
}

func emptyBins(first, last tallyring.Tick, width time.Duration) (bins []Bin) {
	w := tallyring.Tick(width)
	for start := first / w * w; start <= last; start += w {
		bins = append(bins, Bin{Start: start})
	}
	return bins
}
