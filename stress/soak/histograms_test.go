package main

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/exphist"
)

// wrongHistogram is a histogram with a fault, of the names in the test below.
type wrongHistogram struct {
	*exphist.Histogram
	fault string
	calls atomic.Int64
}

func (h *wrongHistogram) Add(now tallyring.Tick, count uint64) {
	if h.fault == "loses a tenth" && h.calls.Add(1)%10 == 0 {
		return
	}
	h.Histogram.Add(now, count)
}

func (h *wrongHistogram) Allow(now tallyring.Tick, cost, limit uint64) bool {
	if h.fault == "knows no limit" {
		limit = tallyring.Unlimited
	}
	return h.Histogram.Allow(now, cost, limit)
}

func (h *wrongHistogram) Read(now tallyring.Tick) tallyring.Reading {
	r := h.Histogram.Read(now)
	switch h.fault {
	case "estimates the least":
		r.Estimate = float64(r.Low) * 0.9
	case "estimates too much":
		r.Estimate = float64(r.High)
		r.High = math.MaxUint64
		r.Estimate *= 1.2
	case "reads too little":
		r.High = r.Low / 2
		r.Low, r.Estimate = r.High, float64(r.High)
	}
	return r
}

// Goal: each assertion on histograms can fail, and none fails for one that is right. Method: one
// that decides and one that counts, without a fault and with each, in a run of its own.
func TestFaultsOfHistogramsAreSeen(t *testing.T) {
	const length, eps = 1500 * time.Millisecond, 0.05
	part := func(fault string, limit uint64) func(*builder) error {
		return func(b *builder) error {
			right, err := exphist.New(length, eps, 1<<30)
			if err != nil {
				return err
			}
			of := &wrongHistogram{Histogram: right, fault: fault}
			b.add(newHistogramLoad(b.desk("one"), of, length, eps, limit, right.Bytes))
			return nil
		}
	}
	for fault, row := range map[string]struct {
		limit uint64
		says  string
	}{
		"none":                {2000, ""},
		"loses a tenth":       {0, `reads|estimates`},
		"knows no limit":      {500, `want at most 500`},
		"estimates the least": {0, `in order`},
		"estimates too much":  {0, `estimates`},
		"reads too little":    {0, `reads`},
	} {
		rounds := faultRounds
		if fault == "none" {
			rounds = rightRounds
			require.NoError(t, soakOf(t, part(fault, 0)).survive(rounds))
		}
		err := soakOf(t, part(fault, row.limit)).survive(rounds)
		if row.says == "" {
			require.NoError(t, err)
		} else if assert.Error(t, err, "a histogram that %s", fault) {
			assert.Regexp(t, `^one: .*`+row.says, err.Error(), fault)
		}
	}
}
