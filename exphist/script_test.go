package exphist

import (
	"fmt"
	"math"
	"time"

	"github.com/tallyring/tallyring"
)

// script drives a histogram and its model through the same operations, which it reads from bytes:
// a seeded generator in the differential tests, the fuzzer's input in the fuzz tests.
type script struct {
	histogram *Histogram
	model     *model
	eps       float64
	now       int64
	seen      map[string]int // how often each kind of step happened
}

func newScript(h *Histogram, eps float64) *script {
	return &script{histogram: h, model: newModel(h.shape), eps: eps, seen: map[string]int{}}
}

const stepBytes = 6

// step does one operation and returns what differed, or "".
func (s *script) step(b []byte) string {
	s.move(b[0], b[1])
	now := tallyring.Tick(s.now)
	if b[0]&0x0f == 15 {
		now = -now
	}
	cost, limit := scriptCost(b[2], b[3]), s.limit(b[4])
	late, before := max(int64(now), 0) < s.model.newest, *s.model
	switch b[5] % 4 {
	case 0:
		want := s.model.take(int64(now), cost, limit)
		if got := s.histogram.Allow(now, cost, limit); got != want.Allowed {
			return fmt.Sprintf("Allow(%d, %d, %d) = %v, want %v", now, cost, limit, got, want)
		}
		s.seen[fmt.Sprintf("allowed %v late %v", want.Allowed, late)]++
	case 1, 2:
		want := s.model.take(int64(now), cost, limit)
		if got := s.histogram.Take(now, cost, limit); got != want {
			return fmt.Sprintf("Take(%d, %d, %d) = %+v, want %+v", now, cost, limit, got, want)
		}
		s.seen[fmt.Sprintf("allowed %v late %v", want.Allowed, late)]++
		if want.RetryAfter > 0 && want.RetryAfter != tallyring.Never {
			s.seen["retry"]++
		}
	case 3:
		s.model.count(int64(now), cost)
		s.histogram.Add(now, cost)
		s.seen[fmt.Sprintf("add late %v", late)]++
	}
	if len(s.model.overs) > len(before.overs) {
		s.seen["over"]++
	}
	return s.compareReadings(now)
}

// compareReadings compares the readings at now, and where the buckets and the window's events leave
// next, with the model's buckets and with the true count.
func (s *script) compareReadings(now tallyring.Tick) string {
	at := []int64{int64(now), s.now}
	if len(s.model.buckets) > 0 {
		if end := s.model.buckets[0].end; end <= math.MaxInt64-s.model.span {
			at = append(at, end+s.model.span-1, end+s.model.span)
		}
	}
	for _, t := range at {
		want := s.model.read(t)
		got := s.histogram.Read(tallyring.Tick(t))
		if got != want {
			return fmt.Sprintf("Read(%d) = %+v, want %+v", t, got, want)
		}
		if wrong := misses(got, s.model.trueAt(max(t, s.model.newest)), s.eps); wrong != "" {
			return fmt.Sprintf("Read(%d): %s", t, wrong)
		}
		if want.Low < want.High {
			s.seen["inexact"]++
		}
	}
	return ""
}

// misses tells what is wrong with a reading of which the true count is known, or "".
func misses(r tallyring.Reading, count uint64, eps float64) string {
	switch {
	case r.Low > count || count > r.High:
		return fmt.Sprintf("%d is not in %+v", count, r)
	case r.High == saturated:
		return ""
	case relativeError(r, count) > eps:
		return fmt.Sprintf("%+v is off by more than %v of %d", r, eps, count)
	}
	return ""
}

// relativeError returns |estimate - count| / count, and 0 where both are 0.
func relativeError(r tallyring.Reading, count uint64) float64 {
	if r.Estimate == float64(count) {
		return 0
	}
	return math.Abs(r.Estimate-float64(count)) / float64(count)
}

// move sets the tick: forward by a little or by one of the gaps at which windows go wrong, not at
// all, or back.
func (s *script) move(kind, size byte) {
	w, n := s.model.span, int64(size)
	steps := [16]int64{
		0, 0, 0, n, w / 16, w / 64, n * (w / 512), n * (w / 4096), w/2 + n, w - 1, w, w + 1,
		-n, -w / 2, -2 * w, 0,
	}
	if kind == 0xff {
		steps[15] = int64(10 * time.Hour)
	} else if kind == 0xef {
		steps[15] = 10 * 365 * 24 * int64(time.Hour)
	}
	step := steps[kind&0x0f]
	if step > 0 && s.now > math.MaxInt64-step {
		step = math.MaxInt64 - s.now
	}
	s.now = max(s.now+step, 0)
}

func scriptCost(kind, size byte) uint64 {
	switch kind % 8 {
	case 0:
		return 0
	case 1, 2, 3:
		return uint64(size % 32)
	case 4:
		return uint64(size) * 2
	}
	return 1
}

func (s *script) limit(kind byte) uint64 {
	most := s.model.most
	limits := [16]uint64{
		0, 1, 2, 5, 10, 25, 25, 40, 100, 100, most / 2, most / 2, most - 1, most, most + 1,
		tallyring.Unlimited,
	}
	return limits[kind%16]
}
