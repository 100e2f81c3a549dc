package limiter

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/gcra"
	"github.com/tallyring/tallyring/table"
)

// holdBuckets makes the table one of token buckets.
func (l *Limiter) holdBuckets(events uint64, per time.Duration, s settings) error {
	largest, later := s.burst, s.maxLimit
	if largest == tallyring.Unlimited {
		largest = events
	}
	if later == tallyring.Unlimited {
		later = 0
	}
	rate, err := gcra.NewRate(events, per, max(largest, later))
	switch {
	case err != nil && later > largest:
		return fmt.Errorf("largest limit %d: %w", later, err)
	case err != nil:
		return err
	}
	l.limit.Store(s.burst)
	l.table, err = table.New(table.Config{
		Window:   tallyring.Window{Slots: 2, Width: min(rate.Span(), tallyring.MaxLength)},
		Keys:     s.keys,
		WhenFull: s.policy,
		Cells:    &rate,
	})
	if err != nil {
		return err
	}
	l.maxLimit = l.table.MaxLimit()
	return nil
}
