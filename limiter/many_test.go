package limiter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring/limiter"
)

// TestAllowManyIsAllowOneByOne decides on a batch with repeated keys, in one limiter at once and in
// another one after the other.
func TestAllowManyIsAllowOneByOne(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		batch, single := k.build(t, 3), k.build(t, 3)
		keys := make([]limiter.Key, 300)
		for i := range keys {
			keys[i] = batch.KeyBytes([]byte{byte(i * i % 71)})
		}
		got, want := make([]bool, len(keys)), make([]bool, len(keys))
		passed := 0
		for _, cost := range []uint64{2, 0, 1, 4, 1} {
			batch.AllowMany(keys, start, cost, got)
			for i, key := range keys {
				want[i] = single.AllowKey(key, start, cost)
				if want[i] && cost > 0 {
					passed++
				}
			}
			require.Equal(t, want, got, "cost %d", cost)
		}
		distinct := map[limiter.Key]bool{}
		for _, key := range keys {
			distinct[key] = true
			require.Equal(t, single.PeekKey(key, start), batch.PeekKey(key, start))
		}
		require.Equal(t, 2*len(distinct), passed, "each key passes once with 2 and once with 1")
	})
}

// TestBatchesOfEverySize decides on batches around the size in which they are handed on, with
// limits of single keys and without, after a prefetch of all of them, which must change nothing.
func TestBatchesOfEverySize(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for _, own := range []bool{false, true} {
			for _, n := range []int{0, 1, 2, 31, 32, 33, 63, 64, 65, 200} {
				small := limiter.WithKeys(64)
				batch, single := k.build(t, 1, small), k.build(t, 1, small)
				if own {
					require.NoError(t, batch.SetKeyLimit(7, 2))
					require.NoError(t, single.SetKeyLimit(7, 2))
				}
				keys := make([]limiter.Key, n)
				for i := range keys {
					keys[i] = limiter.Key(i % 40)
				}
				batch.Prefetch(keys...)
				require.Zero(t, batch.StatsAt(start).Live)
				got, want := make([]bool, n+1), make([]bool, n+1)
				batch.AllowMany(keys, start, 1, got)
				for i, key := range keys {
					want[i] = single.AllowKey(key, start, 1)
				}
				require.Equal(t, want, got, "%d keys, limits of their own %v", n, own)
				require.EqualValues(t, min(n, 40), batch.StatsAt(start).Live)
			}
		}
	})
}

// TestAllowManyWantsRoomForItsAnswers gives it slices too short, empty and longer.
func TestAllowManyWantsRoomForItsAnswers(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 3)
		keys := []limiter.Key{l.Key("a"), l.Key("b")}
		require.PanicsWithValue(t, "limiter: allowed has 1 elements, want at least the 2 of keys",
			func() { l.AllowMany(keys, start, 1, make([]bool, 1)) })
		require.PanicsWithValue(t, "limiter: allowed has 0 elements, want at least the 2 of keys",
			func() { l.AllowMany(keys, start, 1, nil) })
		require.Zero(t, l.StatsAt(start).Live, "the panic comes before any decision")
		l.AllowMany(nil, start, 1, nil)
		l.AllowMany(nil, start, 1, []bool{true})
		l.AllowMany([]limiter.Key{}, start, 1, []bool{})
		longer := []bool{false, false, false, true}
		l.AllowMany(keys, start, 1, longer)
		require.Equal(t, []bool{true, true, false, true}, longer)
		require.Zero(t, l.StatsAt(start+1).Refused)
	})
}
