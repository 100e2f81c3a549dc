package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: the oracle's own arithmetic is right. Method: small windows, tick by tick: an event counts
// at a tick if the contract says so of the two, and everything follows from that.
func TestShapesFollowTheContract(t *testing.T) {
	for _, s := range []shape{
		{interpolated, 3, 2}, {interpolated, 4, 5}, {whole, 3, 1}, {whole, 5, 2}, {whole, 2, 6},
		{exactLog, 3, 4}, {exactLog, 1, 5},
	} {
		counts := func(at, now int64) bool {
			if s.kind == exactLog {
				return now-s.widthNanos*s.slots < at && at <= now
			}
			age := now/s.widthNanos - at/s.widthNanos
			return 0 <= age && age < s.slots
		}
		for now := range int64(60) {
			whole := s.oldest(tallyring.Tick(now)) * s.widthNanos
			require.True(t, counts(whole, now) || whole > now, "%+v at %d", s, now)
			require.True(t, whole == 0 || !counts(whole-s.widthNanos, now), "%+v at %d", s, now)

			bucket := s.bucket(tallyring.Tick(now))
			alone := int64(s.alone(bucket))
			require.True(t, counts(bucket*s.widthNanos, alone), "%+v at %d", s, now)
			before := bucket*s.widthNanos - 1
			require.True(t, bucket == 0 || !counts(before, alone), "%+v at %d", s, now)

			leaves := int64(s.leaves(tallyring.Tick(now)))
			require.True(t, counts(now, leaves-1), "%+v at %d", s, now)
			require.False(t, counts(now, leaves), "%+v at %d", s, now)
		}
	}
}

// Goal: room is the most events that rule S2 admits. Method: the rule, tried for one cost after
// the other.
func TestRoomIsWhatTheRuleAdmits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		s := shape{kind(random.IntN(2)), 1 + random.Int64N(50), 1 + random.Int64N(4)}
		if s.slots == 1 {
			s.kind = whole
		}
		limit := random.Uint64N(40)
		now := tallyring.Tick(s.slots*s.widthNanos + random.Int64N(1000))
		held := make([]uint64, s.slots)
		for i := range held {
			held[i] = random.Uint64N(20)
		}
		width := uint64(s.widthNanos)
		share := width
		if s.kind == interpolated {
			share -= uint64(now) % width
		}
		fits := func(cost uint64) bool {
			return total(held[1:])*width+held[0]*share+cost*width <= limit*width
		}
		most := uint64(0)
		for fits(most + 1) {
			most++
		}
		require.Equal(t, most, s.room(held, total(held), now, limit), "%+v %v %d", s, held, limit)
	}
}
