package litmus

import (
	"fmt"
	"testing"

	"github.com/tallyring/tallyring/pertcore"
)

// opened returns a limiter in shared mode that has counted one event, and its limit: a multiple of
// what shared mode needs to be left.
func opened(t testing.TB, times uint64) (*pertcore.Limiter, uint64) {
	shards := uint64(newLimiter(t, 1).Shards())
	limit := times * shards * max(shards, 2)
	l := newLimiter(t, limit)
	l.Allow(last, 1)
	return l, limit
}

// TestLimiterTwoEventsOnePermit is TestTwoEventsOnePermit on a sharded limiter.
func TestLimiterTwoEventsOnePermit(t *testing.T) {
	newRace("limiter: two events over a turn, limit 1", []outcome{
		{"admitted at last | denied at end | 0 to 1", "the early one first"},
		{"denied at end | admitted at end | 1 to 1", "the late one first"},
		{"admitted at end | denied at end | 1 to 1", turnedFirst},
	}, func(t testing.TB) contest {
		l := newLimiter(t, 1)
		return contest{[]func() string{
			func() string { return verdict(l.Take(last, 1)) },
			func() string { return verdict(l.Take(end, 1)) },
		}, func() string { return counts(l.Read(end)) }}
	}).run(t)
}

// TestSpendAgainstFold lets an event that fits its shard's share meet one that takes all that is
// left, and so ends the generation. Exactly one of them is admitted. And the same over a turn: what
// is spent while the older bucket is sealed is counted in one of the two.
func TestSpendAgainstFold(t *testing.T) {
	said := func(ok bool, kind string) string {
		if ok {
			return kind
		}
		return "none"
	}
	newRace("limiter: a spend and a fold", []outcome{
		{"one | none | one", "the spend first"},
		{"none | rest | all", "the fold first"},
	}, func(t testing.TB) contest {
		l, limit := opened(t, 8)
		return contest{[]func() string{
			func() string { return said(l.Allow(last, 1), "one") },
			func() string { return said(l.Allow(last, limit-1), "rest") },
		}, func() string {
			return map[uint64]string{2: "one", limit: "all"}[l.Read(last).High]
		}}
	}).run(t)
	newRace("limiter: a spend and a fold that turns", []outcome{
		{"admitted at last | admitted at end | 1 to 3", "the spend first"},
		{"admitted at end | admitted at end | 2 to 3", "the turn first"},
	}, func(t testing.TB) contest {
		l, _ := opened(t, 8)
		return contest{[]func() string{
			func() string { return verdict(l.Take(last, 1)) },
			func() string { return verdict(l.Take(end, 1)) },
		}, func() string { return counts(l.Read(end)) }}
	}).run(t)
}

// TestRefundAgainstSpend lets a refund on the newest bucket of a limiter in shared mode, which ends
// the generation, meet an event. One of the events that are refunded the center counts, the other
// one a shard. Nothing is lost; what the event says is left shows what it saw.
func TestRefundAgainstSpend(t *testing.T) {
	newRace("limiter: a refund and a spend", []outcome{
		{"refunded | admitted at last, all but 1 remain | 1 to 1", "the refund first"},
		{"refunded | admitted at last, all but 3 remain | 1 to 1", "the spend first"},
	}, func(t testing.TB) contest {
		l, limit := opened(t, 8)
		l.Allow(last, 1)
		return contest{[]func() string{
			func() string { l.Refund(last, 2); return "refunded" },
			func() string {
				d := l.Take(last, 1)
				return fmt.Sprintf("%s, all but %d remain", verdict(d), limit-d.Remaining)
			},
		}, func() string { return counts(l.Read(last)) }}
	}).run(t)
}

// TestSetLimitAgainstAllow changes the limit beside an event. The event goes by the old limit or
// the new one; and once SetLimit has returned nothing is counted by the old one, neither an event
// that begins then nor one that had begun. So where the limit was lowered, what is counted when
// SetLimit returns is what is counted at rest.
func TestSetLimitAgainstAllow(t *testing.T) {
	exact := func(t testing.TB) *pertcore.Limiter {
		l := newLimiter(t, 2)
		l.Allow(last, 1)
		return l
	}
	shared := func(t testing.TB) *pertcore.Limiter {
		l, _ := opened(t, 8)
		return l
	}
	for mode, limiter := range map[string]func(t testing.TB) *pertcore.Limiter{
		"exact": exact, "shared": shared,
	} {
		newRace("limiter: the limit lowered in "+mode+" mode", []outcome{
			{"true | 2 to 2, then false | 2 to 2", "the event first"},
			{"false | 1 to 1, then false | 1 to 1", "the new limit first"},
		}, func(t testing.TB) contest {
			l := limiter(t)
			return contest{[]func() string{
				func() string { return fmt.Sprint(l.Allow(last, 1)) },
				func() string {
					if err := l.SetLimit(1); err != nil {
						return err.Error()
					}
					held := l.Read(last)
					return fmt.Sprintf("%s, then %t", counts(held), l.Allow(last, 1))
				},
			}, func() string { return counts(l.Read(last)) }}
		}).run(t)
	}
	newRace("limiter: the limit raised", []outcome{
		{"false | true | 2 to 2", "the event first"},
		{"true | false | 2 to 2", "the event after the new limit, and before the other one"},
	}, func(t testing.TB) contest {
		l := newLimiter(t, 1)
		l.Allow(last, 1)
		return contest{[]func() string{
			func() string { return fmt.Sprint(l.Allow(last, 1)) },
			func() string {
				if err := l.SetLimit(2); err != nil {
					return err.Error()
				}
				dawdle()
				return fmt.Sprint(l.Allow(last, 1))
			},
		}, func() string { return counts(l.Read(last)) }}
	}).run(t)
}
