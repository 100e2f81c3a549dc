package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/tallyring/tallyring"
)

// reader is what an account wants of a window.
type reader interface {
	Read(now tallyring.Tick) tallyring.Reading
}

// account is the oracle of one window: how many events each bucket held at the last rest. It is
// used at rest alone.
type account struct {
	shape
	of    reader
	first int64    // bucket of held[0] and most[0]
	held  []uint64 // events by bucket
	most  []uint64 // the largest limit under which each bucket may have been counted in

	// partial is the most that bucket first-1 holds. Of a log a part of it may count.
	partial uint64

	found, bounds []uint64 // scratch
	extra         []int64
}

func newAccount(s shape, of reader) *account { return &account{shape: s, of: of} }

// settle compares what the window holds at now with what it held at the last rest and what was done
// to it since, under limits up to the one given. Unlimited, or a window of adds, has no bound.
func (a *account) settle(now tallyring.Tick, since []span, limit uint64) error {
	first := a.oldest(now)
	if err := a.look(now); err != nil {
		return err
	}
	if err := a.compare(first, since); err != nil {
		return err
	}
	partial := a.may(first-1, since)
	if err := a.agree(now, partial); err != nil {
		return err
	}
	a.bounds = a.bounds[:0]
	for i := range a.found {
		bucket := first + int64(i)
		a.bounds = append(a.bounds, at(a.most, bucket-a.first))
		for _, s := range since {
			if s.counted > 0 && s.first <= bucket && bucket <= s.last {
				a.bounds[i] = max(a.bounds[i], limit)
			}
		}
	}
	a.first, a.partial = first, partial
	a.held, a.found = a.found, a.held
	a.most, a.bounds = a.bounds, a.most
	return a.withinLimit()
}

// look reads how many events each bucket holds, by the ticks at which one after another leaves.
func (a *account) look(now tallyring.Tick) error {
	first, last := a.oldest(now), a.bucket(now)
	a.found = a.found[:0]
	above := a.of.Read(a.alone(first)).High
	for bucket := first; bucket <= last; bucket++ {
		rest := a.of.Read(a.alone(bucket + 1)).High
		if rest > above {
			return fmt.Errorf("counts %d at the end of bucket %d and %d a bucket earlier, "+
				"want no more than that", rest, bucket, above)
		}
		a.found = append(a.found, above-rest)
		above = rest
	}
	if above != 0 {
		return fmt.Errorf("counts %d when bucket %d, the newest, has left, want 0", above, last)
	}
	return nil
}

// may returns the most events that a bucket may hold.
func (a *account) may(bucket int64, since []span) uint64 {
	sum := at(a.held, bucket-a.first)
	if bucket == a.first-1 {
		sum = a.partial
	}
	for _, s := range since {
		if s.first <= bucket && bucket <= s.last {
			sum += s.counted
		}
	}
	return sum
}

// agree checks the reading at now against the counts by bucket. Of a log a part of one more bucket
// may count, of which no more than partial is known.
func (a *account) agree(now tallyring.Tick, partial uint64) error {
	r := a.of.Read(now)
	sum := total(a.found)
	switch {
	case a.kind == exactLog:
		if r.High < sum || r.High > sum+partial || r.Low != r.High {
			return fmt.Errorf("reads %d to %d at %d, want twice the same, %d to %d",
				r.Low, r.High, now, sum, sum+partial)
		}
		return nil
	case r.High != sum:
		return fmt.Errorf("reads %d at %d, want %d, the sum of its buckets", r.High, now, sum)
	}
	low, weighted := sum, float64(sum)
	if int64(len(a.found)) == a.slots && a.slots > 1 {
		low -= a.found[0]
		if a.kind == interpolated {
			elapsed := float64(max(int64(now), 0) % a.widthNanos)
			weighted -= float64(a.found[0]) * elapsed / float64(a.widthNanos)
		}
	}
	if r.Low != low || math.Abs(r.Estimate-weighted) > 1e-9*(1+weighted) {
		return fmt.Errorf("reads %d and an estimate of %v at %d, want %d and %v",
			r.Low, r.Estimate, now, low, weighted)
	}
	return nil
}

// compare holds every row of buckets from first on to what was counted in it for certain, and to
// what may have been. By the theorem of Hall on bipartite graphs these bounds are exact: if all
// rows keep them, the events can be dealt out so that each lies in its span.
//
// Most spans are of one bucket. Of the others each row is looked at that begins and ends where some
// span does, or beside it: in between, nothing that may or must be there changes.
func (a *account) compare(first int64, since []span) error {
	a.extra = a.extra[:0]
	for i, found := range a.found {
		a.extra = append(a.extra, int64(found)-int64(at(a.held, first+int64(i)-a.first)))
	}
	var wide []span
	last := first + int64(len(a.found)) - 1
	edges := []int64{first, last}
	for _, s := range since {
		switch {
		case s.last < first:
		case s.first == s.last:
			a.extra[s.first-first] -= int64(s.counted - s.back)
		default:
			wide = append(wide, s)
			edges = append(edges, s.first-1, s.first, s.first+1, s.last-1, s.last, s.last+1)
		}
	}
	for bucket := first; bucket <= last; bucket++ {
		if err := a.row(first, bucket, bucket, wide); err != nil {
			return err
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for i, from := range edges {
		for _, to := range edges[i:] {
			if from < first || to > last {
				continue
			}
			if err := a.row(first, from, to, wide); err != nil {
				return err
			}
		}
	}
	return nil
}

// row checks the buckets from one to another, of which extra is what the wide spans must explain.
func (a *account) row(first, from, to int64, wide []span) error {
	extra, must, may := int64(0), int64(0), int64(0)
	for _, more := range a.extra[from-first : to-first+1] {
		extra += more
	}
	for _, s := range wide {
		if s.first <= to && from <= s.last {
			may += int64(s.counted)
		}
		if from <= s.first && s.last <= to {
			must += int64(s.counted)
		}
	}
	if extra < must || extra > may {
		held := int64(total(a.found[from-first : to-first+1]))
		return fmt.Errorf("buckets %d to %d hold %d events, want %d to %d",
			from, to, held, held-extra+must, held-extra+may)
	}
	return nil
}

// withinLimit checks the window that ends with the newest bucket that counts anything: when its
// latest event was admitted, it held no more than the limit. So did every window before, which
// earlier rests have seen. For a strict window and a log that is the promise on trailing windows: a
// window of their length lies inside of as many buckets as are added up here, by ticks as counted.
func (a *account) withinLimit() error {
	last := len(a.held) - 1
	for last >= 0 && a.held[last] == 0 {
		last--
	}
	if last < 0 {
		return nil
	}
	begin := last - int(a.slots) + 1
	if a.kind == interpolated {
		begin++ // of the oldest bucket a part may have left before the latest event
	}
	sum := total(a.held[max(begin, 0) : last+1])
	if sum > a.most[last] {
		return fmt.Errorf("window that ends with bucket %d holds %d events, want at most %d",
			a.first+int64(last), sum, a.most[last])
	}
	return nil
}

// left returns how many events of cost 1 a limit leaves at now, after settle.
func (a *account) left(now tallyring.Tick, limit uint64) uint64 {
	high := total(a.held)
	if a.kind == exactLog {
		high = a.of.Read(now).High
	}
	return a.room(a.held, high, now, limit)
}

// bytes returns the memory of the account's entries.
func (a *account) bytes() int {
	return 8 * (cap(a.held) + cap(a.most) + cap(a.found) + cap(a.bounds) + cap(a.extra))
}

func total(counts []uint64) (sum uint64) {
	for _, count := range counts {
		sum += count
	}
	return sum
}

// at returns counts[i], and 0 where there is none.
func at(counts []uint64, i int64) uint64 {
	if i < 0 || i >= int64(len(counts)) {
		return 0
	}
	return counts[i]
}
