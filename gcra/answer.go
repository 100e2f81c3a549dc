package gcra

import (
	"math"
	"time"

	"github.com/tallyring/tallyring"
)

// Take is Next with the whole answer. An event that was not charged in full, for want of room above
// MaxBurst under no limit, is as good as uncounted.
func (r *Rate) Take(
	word uint64, now tallyring.Tick, cost, burst uint64,
) (uint64, tallyring.Decision) {
	burst, now = r.Clamp(burst), max(now, 0)
	s := r.standing(word, r.Units(now))
	next := word
	d := tallyring.Decision{Limit: burst, Remaining: burst, At: r.at(s, now)}
	if d.Allowed = r.admits(s, cost, burst); d.Allowed {
		next = r.charge(word, s, cost)
		var all bool
		if s.debt, all = r.owed(s.debt, cost); !all {
			d.At = tallyring.Uncounted
		}
	} else {
		d.RetryAfter = r.retry(s, now, cost, burst)
	}
	if burst != tallyring.Unlimited {
		d.Remaining = (r.Depth(burst) - min(r.Depth(burst), s.debt)) / r.perEvent
	}
	if s.debt > 0 {
		d.ResetAfter = r.after(now, s.lag+s.debt)
	}
	return next, d
}

// at returns the tick as of which s was taken: now or, where that was late, the first of the span.
func (r *Rate) at(s standing, now tallyring.Tick) tallyring.Tick {
	return now + min(tallyring.Tick(r.after(now, s.lag)), math.MaxInt64-now)
}

// retry returns the time from now until s, which denies cost, admits it.
func (r *Rate) retry(s standing, now tallyring.Tick, cost, burst uint64) time.Duration {
	if cost > burst || burst == 0 {
		return tallyring.Never
	}
	return r.after(now, s.lag+s.debt-r.Depth(burst-cost))
}

// after returns the time from now in which so many units pass. It is less than Never: no word is
// due 2^62 units from any tick, and none of them is longer than a nanosecond.
func (r *Rate) after(now tallyring.Tick, units uint64) time.Duration {
	return time.Duration(r.wait(uint64(now), units))
}

// Read returns what word owes at now, in events: the estimate, and the whole numbers below and
// above.
func (r *Rate) Read(word uint64, now tallyring.Tick) tallyring.Reading {
	debt := r.standing(word, r.Units(max(now, 0))).debt
	whole, rest := debt/r.perEvent, debt%r.perEvent
	reading := tallyring.Reading{Low: whole, High: whole}
	if rest > 0 {
		reading.High++
	}
	reading.Estimate = float64(whole) + float64(rest)/float64(r.perEvent)
	return reading
}
