package slidinglog

import (
	"fmt"
	"math"
	"time"

	"github.com/tallyring/tallyring"
)

// subject is what a script drives: a log, one key of a keyed log, or the model.
type subject interface {
	Allow(now tallyring.Tick, cost, limit uint64) bool
	Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision
	Read(now tallyring.Tick) tallyring.Reading
	Add(now tallyring.Tick, count uint64) bool
	Refund(at tallyring.Tick, count uint64)
}

// oneKey is one key of a keyed log that always has a place for it.
type oneKey struct {
	*Keyed
	key uint64
}

func (o oneKey) Allow(now tallyring.Tick, cost, limit uint64) bool {
	return o.placed(o.Keyed.Allow(o.key, now, cost, limit))
}

func (o oneKey) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	d, placed := o.Keyed.Take(o.key, now, cost, limit)
	o.placed(true, placed)
	return d
}

func (o oneKey) Read(now tallyring.Tick) tallyring.Reading { return o.Keyed.Read(o.key, now) }

func (o oneKey) Add(now tallyring.Tick, count uint64) bool {
	return o.placed(o.Keyed.Add(o.key, now, count))
}

func (o oneKey) Refund(at tallyring.Tick, count uint64) { o.Keyed.Refund(o.key, at, count) }

func (o oneKey) placed(answer, placed bool) bool {
	if !placed {
		panic("no place where there is one")
	}
	return answer
}

// script drives a subject and the model through the same operations, which it reads from bytes: a
// seeded generator in the differential tests, the fuzzer's input in the fuzz tests.
type script struct {
	subject subject
	model   *model
	length  int64
	now     int64
	counted []tallyring.Tick // ticks to refund
	seen    map[string]int   // how often each kind of step happened
}

func newScript(s subject, length time.Duration) *script {
	return &script{
		subject: s, model: newModel(length), length: int64(length), seen: map[string]int{},
	}
}

const stepBytes = 6

// step does one operation and returns what differed, or "".
func (s *script) step(b []byte) string {
	s.move(b[0], b[1])
	now := tallyring.Tick(s.now)
	if b[0]&0x0f == 15 {
		now = -now
	}
	cost, limit := scriptCost(b[2], b[3]), scriptLimit(b[4])
	switch b[5] % 8 {
	case 0, 1:
		was := s.model.newest
		want := s.model.take(now, cost, limit)
		if got := s.subject.Allow(now, cost, limit); got != want.Allowed {
			return fmt.Sprintf("Allow(%d, %d, %d) = %v, want %v", now, cost, limit, got, want)
		}
		s.note(want, int64(now) < was)
	case 2, 3, 4:
		was := s.model.newest
		want := s.model.take(now, cost, limit)
		if got := s.subject.Take(now, cost, limit); got != want {
			return fmt.Sprintf("Take(%d, %d, %d) = %+v, want %+v", now, cost, limit, got, want)
		}
		s.note(want, int64(now) < was)
	case 5:
		want := s.model.add(now, cost)
		if got := s.subject.Add(now, cost); got != want {
			return fmt.Sprintf("Add(%d, %d) = %v, want %v", now, cost, got, want)
		}
		s.seen[fmt.Sprintf("add %v", want)]++
		s.counted = append(s.counted, now)
	case 6:
		if n := len(s.counted); n > 0 {
			// The youngest are the likeliest to be still held.
			now = s.counted[n-1-int(b[1])%min(n, 8)]
		}
		s.model.refund(now, cost)
		s.subject.Refund(now, cost)
		s.seen["refund"]++
	}
	want := s.model.read(now)
	if got := s.subject.Read(now); got != want {
		return fmt.Sprintf("Read(%d) = %+v, want %+v", now, got, want)
	}
	return ""
}

func (s *script) note(d tallyring.Decision, late bool) {
	s.seen[fmt.Sprintf("allowed %v late %v", d.Allowed, late)]++
	if d.Allowed {
		s.counted = append(s.counted, d.At)
	} else if d.RetryAfter != tallyring.Never {
		s.seen["retry"]++
	}
}

// move sets the tick: forward by a little or by one of the gaps at which windows go wrong, not at
// all, or back.
func (s *script) move(kind, size byte) {
	w, n := s.length, int64(size)
	steps := [16]int64{
		0, 0, n, n, w / 16, w / 4, n * w / 512, w - 1, w, w + 1, 2 * w,
		-n, -w / 2, -w, -2 * w, 0,
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
	switch kind % 16 {
	case 0:
		return 0
	case 1, 2, 3:
		return uint64(size % 32)
	case 4:
		return uint64(size) << 30
	case 5:
		if size < 8 {
			return math.MaxUint64 - uint64(size)
		}
		return uint64(size)
	case 6:
		if size < 8 {
			return math.MaxUint64/2 + uint64(size)
		}
	}
	return 1
}

func scriptLimit(kind byte) uint64 {
	limits := [16]uint64{
		0, 1, 2, 3, 5, 10, 10, 25, 25, 40, 100, 1000, 1 << 38,
		math.MaxUint64 / 2, math.MaxUint64 - 1, tallyring.Unlimited,
	}
	return limits[kind%16]
}
