package atomicring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// leaveTag returns a ring of three slots whose odd slot was last written more than half the range
// of its indexes ago, so that its tag looks newer than the next odd bucket, which is returned. No
// two ticks were more than ten years apart. The bucket before that counts 3.
func leaveTag(t *testing.T, f form) (r *Ring, odd, width tallyring.Tick) {
	w := tallyring.Window{Slots: 3, Width: time.Hour}
	r, width = f.build(w), tallyring.Tick(w.Width)
	const first = 101
	require.True(t, r.Add(first*width, 5))
	even, half := tallyring.Tick(first+1), tallyring.Tick(1)<<(63-r.tagged.IndexShift())
	for even <= first+half {
		require.True(t, r.Add(even*width, 3))
		even += tallyring.Tick(tallyring.MaxLength) / width &^ 1
	}
	require.True(t, r.Add(even*width, 3))
	tag := r.tagged.slot(r.words, first).Load()
	require.Negative(t, r.tagged.age(tag, uint64(even+1)), "the tag must look newer")
	return r, even + 1, width
}

// Goal: a slot that nobody has written for so long that its tag looks newer loses no count of a
// bucket that comes to lie in it, neither by a turn nor by a late add. Method: only even buckets
// count for more than half the range, ten years at a time; then an odd one does.
func TestATagOfLongAgoHoldsNoSlot(t *testing.T) {
	for _, f := range forms {
		if !f.tagged {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			r, odd, width := leaveTag(t, f)
			require.True(t, r.Add(odd*width, 7))
			require.True(t, r.Add((odd+1)*width, 1))
			require.Equal(t, uint64(3+7+1), r.Read((odd+1)*width).High, "carried by a turn")

			r, odd, width = leaveTag(t, f)
			require.True(t, r.Add((odd+1)*width, 1))
			require.True(t, r.Add(odd*width, 7))
			require.Equal(t, uint64(3+7+1), r.Read((odd+1)*width).High, "added late")
		})
	}
}
