package tallyring

import "testing"

// What the double-word compare-and-swap costs beside the word that a hit changes, on a line of its
// own. Each call succeeds.
func BenchmarkCompareAndSwap(b *testing.B) {
	pair := &Pairs(NewLines(1))[0]
	b.Run("impl=word", func(b *testing.B) {
		for b.Loop() {
			state := pair.State.Load()
			pair.State.CompareAndSwap(state, state+1)
		}
	})
	for _, impl := range []swap{
		{name: "pair", do: (*Pair).CompareAndSwap},
		{name: "twin", do: (*Pair).compareAndSwapTwin},
	} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			for b.Loop() {
				key, state := pair.Key.Load(), pair.State.Load()
				impl.do(pair, key, state, key+1, state+1)
			}
		})
	}
}

// The same from all processors on one pair; a lost swap counts as an operation.
func BenchmarkCompareAndSwapContended(b *testing.B) {
	pair := &Pairs(NewLines(1))[0]
	b.Run("impl=word", func(b *testing.B) {
		b.RunParallel(func(loop *testing.PB) {
			for loop.Next() {
				state := pair.State.Load()
				pair.State.CompareAndSwap(state, state+1)
			}
		})
	})
	b.Run("impl=pair", func(b *testing.B) {
		b.RunParallel(func(loop *testing.PB) {
			for loop.Next() {
				key, state := pair.Key.Load(), pair.State.Load()
				if state != PairBusy {
					pair.CompareAndSwap(key, state, key+1, state+1)
				}
			}
		})
	})
}

// A pinned addition to a counter of this processor's own, which needs no read-modify-write.
func BenchmarkPin(b *testing.B) {
	lines := NewLines(1 << 10)
	b.RunParallel(func(loop *testing.PB) {
		for loop.Next() {
			own := &lines[Pin()*PadBytes/LineBytes%len(lines)].Words[0]
			own.Store(own.Load() + 1)
			Unpin()
		}
	})
}

func BenchmarkNow(b *testing.B) {
	for _, clock := range []struct {
		name  string
		clock Clock
	}{{"monotonic", Monotonic()}, {"cycle", Cycle()}, {"relaxed", RelaxedCycle()},
		{"manual", &ManualClock{}}} {
		b.Run("clock="+clock.name, func(b *testing.B) {
			latest := Tick(0)
			for b.Loop() {
				latest = max(latest, clock.clock.Now())
			}
			if latest < 0 {
				b.Fatal("the clock went below its origin")
			}
		})
	}
}

// What one line of a batch costs where the batch is small enough to stay in cache: the price of
// asking, not what asking gains.
func BenchmarkPrefetchLines(b *testing.B) {
	const batch = 32
	lines := NewLines(batch)
	indexes := make([]uint64, batch)
	for i := range indexes {
		indexes[i] = uint64(i)
	}
	for range (b.N + batch - 1) / batch {
		PrefetchLines(lines, indexes)
	}
}
