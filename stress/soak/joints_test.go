package main

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// wrongSeveral is a limiter of several rates with a fault, of the names in jointFaults.
type wrongSeveral struct {
	*limiter.Several
	fault string
	calls atomic.Int64
}

func (s *wrongSeveral) rarely(fault string) bool {
	return s.fault == fault && s.calls.Add(1)%150 == 0
}

func (s *wrongSeveral) TakeKey(
	k limiter.Key, now tallyring.Tick, cost uint64,
) limiter.Joint {
	j := s.Several.TakeKey(k, now, cost)
	last := s.Limiters()[len(s.Limiters())-1]
	switch {
	case !j.Allowed && s.fault == "charges what one denies":
		last.TakeKey(k, now, cost)
	case !j.Allowed && s.rarely("names nobody"):
		j.DeniedBy = -1
	case !j.Allowed && s.rarely("never lets pass"):
		j.RetryAfter = tallyring.Never
	case j.Allowed && s.rarely("loses a charge"):
		last.RefundKey(k, j.CountedAt(1), cost)
	case j.Allowed && s.rarely("makes an admitted event wait"):
		j.RetryAfter = 1
	case j.Allowed && s.rarely("admits one too many"):
		s.RefundKey(k, j, cost)
	case j.Allowed && s.rarely("denies what it charges"):
		return limiter.Joint{DeniedBy: 0, Decision: tallyring.Decision{
			Limit: s.Limiters()[0].Limit(), RetryAfter: 1}}
	}
	return j
}

func (s *wrongSeveral) RefundKey(k limiter.Key, j limiter.Joint, cost uint64) {
	if s.fault == "takes back from one rate" {
		s.Limiters()[0].RefundKey(k, j.CountedAt(0), cost)
		return
	}
	s.Several.RefundKey(k, j, cost)
}

// Goal: each assertion on several rates can fail, and none fails for a limiter that is right.
// Method: two rates, without a fault and with each, in a run of its own.
func TestFaultsOfSeveralRatesAreSeen(t *testing.T) {
	part := func(fault string) func(*builder) error {
		return func(b *builder) error {
			limits := []uint64{200, 300}
			rates := []limiter.Rate{{Limit: 200, Window: 400 * time.Millisecond},
				{Limit: 300, Window: time.Second}}
			var shapes []shape
			for _, rate := range rates {
				shapes = append(shapes, shape{whole, int64(rate.Window), 2})
			}
			right, err := limiter.NewSeveral(rates,
				limiter.WithStrictWindow(), limiter.WithClock(b.line), limiter.WithKeys(2))
			if err != nil {
				return err
			}
			of := &wrongSeveral{Several: right, fault: fault}
			b.add(newJointLoad(b.desk("two"), of, shapes, limits, 2))
			return nil
		}
	}
	require.NoError(t, soakOf(t, part("none")).survive(rightRounds))
	for fault, says := range map[string]string{
		"charges what one denies":      `buckets .* hold`,
		"names nobody":                 `names no rate`,
		"never lets pass":              `wrong wait`,
		"loses a charge":               `buckets .* hold`,
		"makes an admitted event wait": `says that an admitted`,
		"admits one too many":          `buckets .* hold`,
		"denies what it charges":       `buckets .* hold`,
		"takes back from one rate":     `buckets .* hold`,
	} {
		err := soakOf(t, part(fault)).survive(faultRounds)
		if assert.Error(t, err, "a limiter that %s", fault) {
			assert.Regexp(t, `^two: .*`+says, err.Error(), fault)
		}
	}
}
