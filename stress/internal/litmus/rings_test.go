package litmus

import (
	"fmt"
	"testing"

	"github.com/tallyring/tallyring"
)

// turnedFirst is when an early event is counted late, and the late one denied.
const turnedFirst = "the late one has turned the ring, the early one is counted there, " +
	"the late one tests again"

// onlyTagged adds, in the tagged form, the outcomes of a turn under way.
func onlyTagged(f form, outcomes []outcome, more ...outcome) []outcome {
	if f == taggedForm {
		return append(outcomes, more...)
	}
	return outcomes
}

// TestTwoEventsOnePermit lets two events ask for one permit, in the last tick of a bucket and in
// the first of the next. Exactly one is admitted.
func TestTwoEventsOnePermit(t *testing.T) {
	for _, f := range []form{packedForm, taggedForm} {
		newRace(f.name+" ring: two events over a turn, limit 1", onlyTagged(f, []outcome{
			{"admitted at last | denied at end | 0 to 1", "the early one first"},
			{"denied at end | admitted at end | 1 to 1", "the late one first"},
		}, outcome{"admitted at end | denied at end | 1 to 1", turnedFirst}),
			func(t testing.TB) contest {
				r := newRing(t, f.limit)
				return contest{[]func() string{
					func() string { return verdict(r.Take(last, 1, 1)) },
					func() string { return verdict(r.Take(end, 1, 1)) },
				}, func() string { return counts(r.Read(end)) }}
			}).run(t)
	}
}

// TestDeniedEventHasTurned lets an event that is admissible in the next bucket alone meet one that
// is late for it. In the packed form only an event that is counted moves the ring.
func TestDeniedEventHasTurned(t *testing.T) {
	for _, f := range []form{packedForm, taggedForm} {
		newRace(f.name+" ring: one permit, and only in the next bucket", onlyTagged(f, []outcome{
			{"denied at last | admitted at end | 1 to 2", "the early one first"},
			{"denied at end | admitted at end | 1 to 2", "the late one first"},
		}, outcome{"admitted at end | denied at end | 1 to 2", turnedFirst}),
			func(t testing.TB) contest {
				r := newRing(t, f.limit)
				r.Add(before, 1)
				r.Add(last, 1)
				return contest{[]func() string{
					func() string { return verdict(r.Take(last, 1, 2)) },
					func() string { return verdict(r.Take(end, 1, 2)) },
				}, func() string { return counts(r.Read(end)) }}
			}).run(t)
	}
}

// TestAddAgainstRead lets a reading of a bucket meet an Add in it, and one in the next.
func TestAddAgainstRead(t *testing.T) {
	for _, f := range []form{packedForm, taggedForm} {
		start := func(tick tallyring.Tick) func(t testing.TB) contest {
			return func(t testing.TB) contest {
				r := newRing(t, f.limit)
				r.Add(before, 2)
				r.Add(last, 3)
				return contest{[]func() string{
					func() string { return fmt.Sprint(r.Add(tick, 4)) },
					func() string { return counts(r.Read(last)) },
				}, func() string { return counts(r.Read(tick)) }}
			}
		}
		newRace(f.name+" ring: an Add and a reading in one bucket", []outcome{
			{"true | 3 to 5 | 7 to 9", "the reading first"},
			{"true | 7 to 9 | 7 to 9", "the Add first"},
		}, start(last)).run(t)
		newRace(f.name+" ring: an Add that turns and a reading", []outcome{
			{"true | 3 to 5 | 4 to 7", "the reading first"},
			{"true | 4 to 7 | 4 to 7", "the Add first: the reading is late"},
		}, start(end)).rarely(onlyTagged(f, nil, outcome{"true | 0 to 3 | 4 to 7",
			"the Add has turned the ring and not counted yet"})).run(t)
	}
}

// TestLateAdd lets an Add in the bucket that is about to be the older one meet the turn, and a
// decision that weighs it: its count is never lost. And one in a bucket that is about to leave: it
// is counted there or dropped, and never counted in the bucket that takes the place. And one in an
// older bucket that stays.
func TestLateAdd(t *testing.T) {
	for _, f := range []form{packedForm, taggedForm} {
		newRace(f.name+" ring: a late Add, a decision and the turn", []outcome{
			{"true | admitted at end | 2 to 4", "the decision first, or it missed the Add"},
			{"true | denied at end | 0 to 2", "the Add first"},
		}, func(t testing.TB) contest {
			r := newRing(t, f.limit)
			r.Add(last, 1)
			return contest{[]func() string{
				func() string { return fmt.Sprint(r.Add(last, 1)) },
				func() string { return verdict(r.Take(end, 2, 3)) },
			}, func() string { return counts(r.Read(end)) }}
		}).run(t)
		newRace(f.name+" ring: a late Add in a bucket that leaves", []outcome{
			{"true | admitted at end | 1 to 3", "the Add first"},
			{"false | admitted at end | 1 to 3", "the turn first"},
		}, func(t testing.TB) contest {
			r := newRing(t, f.limit)
			r.Add(before, 1)
			r.Add(last, 2)
			return contest{[]func() string{
				func() string { return fmt.Sprint(r.Add(before, 5)) },
				func() string { return verdict(r.Take(end, 1, 100)) },
			}, func() string { return counts(r.Read(end)) }}
		}).run(t)
	}
	newRace("long ring: a late Add on an older bucket", []outcome{
		{"true | admitted at end | 2 to 4", "the decision first, or it missed the Add"},
		{"true | denied at end | 1 to 3", "the Add first"},
	}, func(t testing.TB) contest {
		r := newLongRing(t)
		r.Add(before, 1)
		r.Add(last, 1)
		return contest{[]func() string{
			func() string { return fmt.Sprint(r.Add(before, 1)) },
			func() string { return verdict(r.Take(end, 1, 3)) },
		}, func() string { return counts(r.Read(end)) }}
	}).run(t)
}

// TestRefundAgainstTurn lets a refund on the newest bucket meet the turn that makes it an older
// one. The refund is never lost; a decision may have missed it.
func TestRefundAgainstTurn(t *testing.T) {
	for _, f := range []form{packedForm, taggedForm} {
		start := func(limit uint64) func(t testing.TB) contest {
			return func(t testing.TB) contest {
				r := newRing(t, f.limit)
				r.Add(last, 2)
				return contest{[]func() string{
					func() string { r.Refund(last, 1); return "refunded" },
					func() string {
						d := r.Take(end, 1, limit)
						return fmt.Sprintf("%s, %d remain", verdict(d), d.Remaining)
					},
				}, func() string { return counts(r.Read(end)) }}
			}
		}
		newRace(f.name+" ring: a refund that decides", []outcome{
			{"refunded | admitted at end, 0 remain | 1 to 2", "the refund first"},
			{"refunded | denied at end, 0 remain | 0 to 1", "the decision first"},
		}, start(2)).run(t)
		newRace(f.name+" ring: a refund between seal, copy and turn", []outcome{
			{"refunded | admitted at end, 3 remain | 1 to 2", "the refund first"},
			{"refunded | admitted at end, 2 remain | 1 to 2",
				"the decision first, or it missed the refund on the older bucket"},
		}, start(5)).run(t)
	}
	newRace("long ring: a refund on an older bucket", []outcome{
		{"refunded | admitted at end, 6 remain | 2 to 3", "the refund first"},
		{"refunded | admitted at end, 5 remain | 2 to 3",
			"the decision first, or it missed the refund"},
	}, func(t testing.TB) contest {
		r := newLongRing(t)
		r.Add(before, 2)
		r.Add(last, 1)
		return contest{[]func() string{
			func() string { r.Refund(before, 1); return "refunded" },
			func() string {
				d := r.Take(end, 1, 9)
				return fmt.Sprintf("%s, %d remain", verdict(d), d.Remaining)
			},
		}, func() string { return counts(r.Read(end)) }}
	}).run(t)
}
