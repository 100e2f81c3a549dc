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
	largest := max(s.burst, s.maxLimit)
	if s.burst == tallyring.Unlimited {
		largest = max(events, s.maxLimit)
	}
	rate, err := gcra.NewRate(events, per, largest)
	if err != nil {
		return fmt.Errorf("limiter: %w", err)
	}
	l.limit.Store(s.burst)
	l.table, err = table.New(table.Config{
		Window:   tallyring.Window{Slots: 2, Width: min(rate.Span(), tallyring.MaxLength)},
		Keys:     s.keys,
		WhenFull: s.policy,
		Cells:    &rate,
	})
	if err != nil {
		return fmt.Errorf("limiter: %w", err)
	}
	l.maxLimit = l.table.MaxLimit()
	return nil
}
