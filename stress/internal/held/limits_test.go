package held

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// eachMode runs a test on a limiter in shared mode and on one in exact mode, with the point at
// which an admission stands before its swap.
func eachMode(t *testing.T, test func(t *testing.T, l limiter, swap tallyring.Point)) {
	t.Run("shared", func(t *testing.T) { test(t, newShared(t, 1), tallyring.LimiterSpend) })
	t.Run("exact", func(t *testing.T) { test(t, newExact(t, 1), tallyring.LimiterCount) })
}

// TestLimitBetweenLoads lowers the limit to what is counted when a decision has loaded the center
// and not the limit, or has not loaded the center, or is about to swap. SetLimit has returned when
// the decision goes on, so it is denied: after 1 to 17 generations, some of which look like the one
// that it saw.
func TestLimitBetweenLoads(t *testing.T) {
	for verb, ask := range verbs {
		for _, loaded := range []tallyring.Point{
			tallyring.LimiterLooked, tallyring.LimiterWeigh, theEnd,
		} {
			for others := range 17 {
				eachMode(t, func(t *testing.T, l limiter, swap tallyring.Point) {
					stop := loaded
					switch {
					case loaded == theEnd:
						stop = swap
					case verb == "Allow" && swap == tallyring.LimiterSpend:
						stop = tallyring.LimiterLooked // its short path loads both at once
					}
					count := l.Read(second(begun)).High
					allowed := true
					decision := l.seated(1, verb, func() { allowed = ask(l, second(begun), 1) })
					decision.to(stop)
					for range others {
						require.NoError(t, l.SetLimit(l.limit-1))
					}
					l.run(func() { require.NoError(t, l.SetLimit(count)) })
					decision.end()
					require.False(t, allowed)
					require.Equal(t, count, l.Read(second(begun)).High)
				})
			}
		}
	}
}

// TestLimitThatIsStored stops SetLimit when it has stored a lower limit and has not ended the
// generation. A decision that had loaded the old limit is counted still; one that begins now goes
// by the new one, and so does every one once SetLimit has returned.
func TestLimitThatIsStored(t *testing.T) {
	for verb, ask := range verbs {
		for _, raises := range []bool{false, true} {
			eachMode(t, func(t *testing.T, l limiter, swap tallyring.Point) {
				count := l.Read(second(begun)).High
				changed := count
				if raises {
					changed = l.limit + 5
				}
				old := l.seated(1, verb, func() {
					require.True(t, ask(l, second(begun), 1))
				}).to(swap)
				set := l.actor("SetLimit", func() { require.NoError(t, l.SetLimit(changed)) })
				set.to(tallyring.LimiterStored)
				old.end()
				l.runAt(2, func() { require.Equal(t, raises, ask(l, second(begun), 1)) })
				set.end()
				l.limit = max(changed, count+1+bit(raises))
				l.fills(second(begun), count+1+bit(raises))
			})
		}
	}
}

// TestAdmissionAgainstFold takes both orders, in exact mode, of an admission and of the swap that
// ends the generation, which have both loaded the center. If the admission is first, the fold fails
// and is not missed. If the fold is first, the admission fails, and is decided on again.
func TestAdmissionAgainstFold(t *testing.T) {
	for verb, ask := range verbs {
		bothOrders(t, verb, "fold", func(t *testing.T, admissionFirst bool) {
			l := newExact(t, 1)
			count := l.Read(second(begun)).High
			admission := l.seated(1, verb, func() { require.True(t, ask(l, second(begun), 2)) })
			admission.to(tallyring.LimiterCount)
			fold := l.actor("the fold", func() { require.NoError(t, l.SetLimit(l.limit)) })
			fold.to(tallyring.LimiterFold)
			if admissionFirst {
				admission.end()
				require.Equal(t, 1, admission.passed[tallyring.LimiterCount])
				fold.end()
				require.Equal(t, 2, fold.passed[tallyring.LimiterFold])
			} else {
				fold.end()
				require.Equal(t, 1, fold.passed[tallyring.LimiterFold])
				admission.end()
				require.Equal(t, 2, admission.passed[tallyring.LimiterCount])
			}
			l.fills(second(begun), count+2)
		})
	}
}

// TestLastPermit lets two events load the center, in exact mode, of which the limit admits one.
// Whichever swaps first is admitted, and the other is denied.
func TestLastPermit(t *testing.T) {
	bothOrders(t, "one", "the other", func(t *testing.T, oneFirst bool) {
		l := newExact(t, 1)
		l.run(func() {
			require.True(t, l.Allow(second(begun), l.limit-l.Read(second(begun)).High-1))
		})
		var allowed [2]bool
		one := l.seated(1, "one", func() { allowed[0] = l.Allow(second(begun), 1) })
		other := l.seated(2, "the other", func() { allowed[1] = l.Take(second(begun), 1).Allowed })
		one.to(tallyring.LimiterCount)
		other.to(tallyring.LimiterCount)
		if oneFirst {
			one.end()
			other.end()
		} else {
			other.end()
			one.end()
		}
		require.Equal(t, [2]bool{oneFirst, !oneFirst}, allowed)
		require.Equal(t, l.limit, l.Read(second(begun)).High)
	})
}

// TestDenialAgainstRefund takes both orders, in exact mode, of a refund and of the second look at
// the center with which a denial ends.
func TestDenialAgainstRefund(t *testing.T) {
	for verb, ask := range verbs {
		bothOrders(t, "denial", "refund", func(t *testing.T, denialFirst bool) {
			l := newExact(t, 1)
			l.fills(second(begun), l.Read(second(begun)).High)
			allowed := true
			denial := l.seated(1, verb, func() { allowed = ask(l, second(begun), 1) })
			denial.to(tallyring.LimiterConfirm)
			refund := l.actor("the refund", func() { l.Refund(second(begun), 1) })
			refund.to(tallyring.LimiterCount)
			if denialFirst {
				denial.end()
				refund.end()
			} else {
				refund.end()
				denial.end()
			}
			require.Equal(t, !denialFirst, allowed)
			l.fills(second(begun), l.limit-bit(denialFirst))
		})
	}
}
