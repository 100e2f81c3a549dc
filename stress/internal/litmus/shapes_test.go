package litmus

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/pertcore"
	"github.com/tallyring/tallyring/table"
)

const (
	width = time.Second
	end   = 1000 * tallyring.Tick(width) // a bucket begins here
	last  = end - 1                      // the last tick of the bucket before

	before = last - tallyring.Tick(width) // the last tick of the one before that
)

var two = tallyring.Window{Slots: 2, Width: width}

// tagged is a limit for which two slots need the tagged form.
const tagged = uint64(1) << 30

// newRing returns a ring of two slots, in the form that holds a limit.
func newRing(t testing.TB, limit uint64) *atomicring.Ring {
	r, err := atomicring.NewFor(two, limit)
	require.NoError(t, err)
	return r
}

// newLongRing returns a ring of three slots, which is tagged.
func newLongRing(t testing.TB) *atomicring.Ring {
	r, err := atomicring.New(tallyring.Window{Slots: 3, Width: width})
	require.NoError(t, err)
	return r
}

// newTable returns a table of two slots with room for some keys, in the form that holds a limit.
func newTable(t testing.TB, limit uint64) *table.Table {
	made, err := table.New(table.Config{Window: two, MaxLimit: limit, Keys: 6})
	require.NoError(t, err)
	return made
}

// newLimiter returns a sharded limiter of two slots.
func newLimiter(t testing.TB, limit uint64) *pertcore.Limiter {
	l, err := pertcore.NewLimiter(two, limit)
	require.NoError(t, err)
	return l
}

// form is one of the two forms of a ring or a cell, chosen by the limit that it must hold.
type form struct {
	name  string
	limit uint64
}

var (
	packedForm = form{"packed", 1}
	taggedForm = form{"tagged", tagged}
)

// TestShapes makes sure that the races run on the forms that they name.
func TestShapes(t *testing.T) {
	require.Less(t, newRing(t, packedForm.limit).MaxLimit(), tagged)
	require.GreaterOrEqual(t, newRing(t, taggedForm.limit).MaxLimit(), tagged)
	require.Less(t, newTable(t, packedForm.limit).MaxLimit(), tagged)
	require.GreaterOrEqual(t, newTable(t, taggedForm.limit).MaxLimit(), tagged)
	t.Logf("the pair's swap is assembly: %t", tallyring.PairLockFree())
}
