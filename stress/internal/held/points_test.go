package held

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// names of all points, for messages.
var names = [tallyring.Points]string{
	tallyring.RingLooked:     "RingLooked",
	tallyring.RingCount:      "RingCount",
	tallyring.RingConfirm:    "RingConfirm",
	tallyring.RingSeal:       "RingSeal",
	tallyring.RingCarry:      "RingCarry",
	tallyring.RingMove:       "RingMove",
	tallyring.RingLate:       "RingLate",
	tallyring.RingRefund:     "RingRefund",
	tallyring.RingChanged:    "RingChanged",
	tallyring.RingSpoil:      "RingSpoil",
	tallyring.RingSum:        "RingSum",
	tallyring.RingStore:      "RingStore",
	tallyring.TableLooked:    "TableLooked",
	tallyring.TableHit:       "TableHit",
	tallyring.TableConfirm:   "TableConfirm",
	tallyring.TableExtend:    "TableExtend",
	tallyring.TableRaise:     "TableRaise",
	tallyring.TableClaim:     "TableClaim",
	tallyring.TableResolve:   "TableResolve",
	tallyring.TableKill:      "TableKill",
	tallyring.TableCommit:    "TableCommit",
	tallyring.LimiterLooked:  "LimiterLooked",
	tallyring.LimiterKey:     "LimiterKey",
	tallyring.LimiterWeigh:   "LimiterWeigh",
	tallyring.LimiterSpend:   "LimiterSpend",
	tallyring.LimiterCount:   "LimiterCount",
	tallyring.LimiterSum:     "LimiterSum",
	tallyring.LimiterConfirm: "LimiterConfirm",
	tallyring.LimiterClose:   "LimiterClose",
	tallyring.LimiterFold:    "LimiterFold",
	tallyring.LimiterSeal:    "LimiterSeal",
	tallyring.LimiterMove:    "LimiterMove",
	tallyring.LimiterStored:  "LimiterStored",
	tallyring.CounterTurn:    "CounterTurn",
	tallyring.CounterAdd:     "CounterAdd",
	tallyring.CounterMerge:   "CounterMerge",
	tallyring.CounterConfirm: "CounterConfirm",
	tallyring.PairLatch:      "PairLatch",
	tallyring.PairHeld:       "PairHeld",
	tallyring.PairWait:       "PairWait",
}

func name(p tallyring.Point) string { return names[p] }

// stops counts how often a test has stopped somebody at each point.
var stops [tallyring.Points]int

// standIns are the points of what stands in for the pair's double-word compare-and-swap.
var standIns = map[tallyring.Point]bool{
	tallyring.PairLatch: true, tallyring.PairHeld: true, tallyring.PairWait: true,
}

// TestMain runs the tests where goroutines can be held, and elsewhere one that says so. It fails a
// run of all tests in which nobody was stopped at some point: then either no code comes there any
// more, or no test holds what its place is good for.
func TestMain(m *testing.M) {
	flag.Parse()
	run, skip := flag.Lookup("test.run").Value, flag.Lookup("test.skip").Value
	all := run.String() == "" && skip.String() == ""
	if !tallyring.Holding {
		if err := run.Set("^TestGoroutinesCanBeHeld$"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if code == 0 && tallyring.Holding && all {
		for p, times := range stops {
			if times == 0 && !(tallyring.PairLockFree() && standIns[tallyring.Point(p)]) {
				fmt.Printf("nobody was stopped at %v: add a test\n", name(tallyring.Point(p)))
				code = 1
			}
		}
	}
	os.Exit(code)
}

// TestGoroutinesCanBeHeld stops one at a point, and lets another pass.
func TestGoroutinesCanBeHeld(t *testing.T) {
	if !tallyring.Holding {
		t.Skip("nothing stops at points in this build: go test -tags tallyring_hold")
	}
	s := newStage(t)
	r, err := atomicring.New(tallyring.Window{Slots: 2, Width: width})
	require.NoError(t, err)
	one := s.actor("one", func() { require.True(t, r.Allow(tick(newest), 1, 2)) })
	one.to(tallyring.RingCount)
	s.run(func() { require.True(t, r.Allow(tick(newest), 1, 2)) })
	require.Equal(t, uint64(1), r.Read(tick(newest)).High)
	one.end()
	require.Equal(t, uint64(2), r.Read(tick(newest)).High)
}
