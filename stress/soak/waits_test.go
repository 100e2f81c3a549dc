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

// wrongQueue is a limiter in which one can wait, with a fault, of the names in the test below.
type wrongQueue struct {
	*limiter.Limiter
	fault string
	calls atomic.Int64
}

func (q *wrongQueue) rarely(fault string) bool {
	return q.fault == fault && q.calls.Add(1)%150 == 0
}

func (q *wrongQueue) ReserveKey(k limiter.Key, cost uint64) *limiter.Reservation {
	switch {
	case q.rarely("counts another key"):
		k ^= 1
	case q.rarely("counts a place twice"):
		q.Limiter.ReserveKey(k, cost)
	}
	return q.Limiter.ReserveKey(k, cost)
}

func (q *wrongQueue) RefundKey(k limiter.Key, at tallyring.Tick, cost uint64) {
	if !q.rarely("ignores a refund") {
		q.Limiter.RefundKey(k, at, cost)
	}
}

func (q *wrongQueue) Stats() limiter.Stats {
	s := q.Limiter.Stats()
	switch q.fault {
	case "counts nobody who waits":
		s.Waiting = 0
	case "counts somebody for ever":
		s.Waiting++
	}
	return s
}

// Goal: each assertion on those who wait can fail, and none fails for queues that are right.
// Method: a limiter without a fault and with each, in a run of its own.
func TestFaultsOfQueuesAreSeen(t *testing.T) {
	const limit, window = 20, time.Second
	part := func(fault string, promised uint64) func(*builder) error {
		return func(b *builder) error {
			right, clock, err := newQueue(limit, window)
			if err != nil {
				return err
			}
			of := &wrongQueue{Limiter: right, fault: fault}
			b.add(newWaitLoad(b.desk("one"), of, clock, promised, window))
			return nil
		}
	}
	require.NoError(t, soakOf(t, part("none", limit)).survive(rightRounds))
	err := soakOf(t, part("none", limit-1)).survive(faultRounds)
	require.ErrorContains(t, err, "want at most 19")
	for fault, says := range map[string]string{
		"counts another key":       `key \d (counts|let)`,
		"counts a place twice":     `key \d counts`,
		"ignores a refund":         `key \d counts`,
		"counts nobody who waits":  `counts nobody who waits`,
		"counts somebody for ever": `lets none of 1 pass`,
	} {
		err := soakOf(t, part(fault, limit)).survive(faultRounds)
		if assert.Error(t, err, "queues that %s", fault) {
			assert.Regexp(t, `^one: .*`+says, err.Error(), fault)
		}
	}
}
