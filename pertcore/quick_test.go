package pertcore

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

func TestQuick(t *testing.T) {
	for round := range 2000 {
		limit := uint64(round%500 + 1)
		l, err := NewLimiter(tallyring.Window{Slots: 1 + round%4, Width: time.Second}, limit)
		require.NoError(t, err)
		var wg sync.WaitGroup
		var n atomic.Uint64
		for g := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 200 {
					_ = i
					if l.Allow(tallyring.Tick(g), 1) {
						n.Add(1)
					}
				}
			}()
		}
		wg.Wait()
		require.Equal(t, limit, n.Load())
		require.Equal(t, limit, l.Read(10).High)
		require.False(t, l.Allow(10, 1))
	}
}

func TestQuickTurns(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 7} {
		w := tallyring.Window{Slots: slots, Width: time.Microsecond * 10, Strict: slots > 1}
		limit := uint64(100)
		l, err := NewLimiter(w, limit)
		require.NoError(t, err)
		var wg sync.WaitGroup
		var now atomic.Int64
		var mu sync.Mutex
		at := map[int64]uint64{}
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				local := map[int64]uint64{}
				for range 100000 {
					d := l.Take(tallyring.Tick(now.Add(13)), 1)
					if d.Allowed {
						local[int64(d.At)/10000]++
					}
				}
				mu.Lock()
				for k, v := range local {
					at[k] += v
				}
				mu.Unlock()
			}()
		}
		wg.Wait()
		last := now.Load() / 10000
		full := 0
		for b := int64(0); b <= last; b++ {
			var sum uint64
			for k := range int64(slots) {
				sum += at[b-k]
			}
			require.LessOrEqual(t, sum, limit)
			if sum == limit {
				full++
			}
		}
		t.Log(slots, last, full)
	}
}

func BenchmarkAllow(b *testing.B) {
	l, _ := NewLimiter(tallyring.Window{Slots: 2, Width: time.Second}, 1<<27)
	b.RunParallel(func(pb *testing.PB) {
		now := tallyring.Tick(0)
		for pb.Next() {
			now += 10
			l.Allow(now, 1)
		}
	})
}
