package tallyring

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tally is a pair whose words count together: {state: solo 32 | both 32}, {key: both * keyStep}.
// A change of the pair adds 1 to both and keyStep to the key; a change of the state alone adds 1 to
// solo. So a key and a state that never stood side by side are told at once.
const (
	keyStep  = 0x9e3779b97f4a7c15
	soloStep = 1 << 32
	bothMask = soloStep - 1
)

// tallyRace runs changes of one tally against each other and counts what happened.
type tallyRace struct {
	pair    *Pair
	impl    swap
	changes int // by each goroutine

	lost, busy, read, torn atomic.Int64
}

// state returns a settled state, waiting while the stand-in holds the pair.
func (r *tallyRace) state() uint64 {
	for {
		state := r.pair.State.Load()
		if state != PairBusy {
			return state
		}
		r.busy.Add(1)
		runtime.Gosched() // ends when the owner has stored a state
	}
}

func (r *tallyRace) changeBoth() {
	for range r.changes {
		for {
			state, key := r.state(), r.pair.Key.Load()
			if r.impl.do(r.pair, key, state, key+keyStep, state+1) {
				break
			}
			r.lost.Add(1) // ends: some other change won
		}
	}
}

func (r *tallyRace) changeStateAlone() {
	for range r.changes {
		for {
			state := r.state()
			if r.pair.State.CompareAndSwap(state, state+soloStep) {
				break
			}
			r.lost.Add(1) // ends: some other change won
		}
	}
}

// readTogether reads until stop. States never repeat, so a key read between two equal states stood
// beside them.
func (r *tallyRace) readTogether(stop *atomic.Bool) {
	for !stop.Load() {
		state, key := r.state(), r.pair.Key.Load()
		if r.pair.State.Load() != state {
			continue
		}
		r.read.Add(1)
		if key != (state&bothMask)*keyStep {
			r.torn.Add(1)
		}
	}
}

// run lets two goroutines of each kind race, with one reader, and returns when all have ended.
func (r *tallyRace) run() {
	var writers, readers sync.WaitGroup
	var stop atomic.Bool
	readers.Go(func() { r.readTogether(&stop) })
	for range 2 {
		writers.Go(r.changeBoth)
		writers.Go(r.changeStateAlone)
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()
}

// Goal: changes of the pair and changes of the state alone never lose one another, and nobody sees
// half a change. Method: count both ways at once; the sums are exact; a reader checks every settled
// view. The race is run again until changes were lost to each other, and fails if none ever was.
func TestPairChangesAndStateChangesInterleave(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))))
	for _, impl := range swaps() {
		t.Run(impl.name, func(t *testing.T) {
			const rounds, most, changes = 20, 1000, 20_000 // most: where the machine is busy
			var lost, read int64
			for round := range most {
				r := &tallyRace{pair: &Pairs(NewLines(1))[0], impl: impl, changes: changes}
				r.run()

				state := r.pair.State.Load()
				require.Equal(t, uint64(2*changes), state&bothMask, "changes of both")
				require.Equal(t, uint64(2*changes), state/soloStep, "changes of the state alone")
				require.Equal(t, state&bothMask*keyStep, r.pair.Key.Load(), "key")
				require.Zero(t, r.torn.Load(), "views of half a change")
				if !impl.busy {
					require.Zero(t, r.busy.Load(), "PairBusy seen of a lock-free pair")
				}
				lost, read = lost+r.lost.Load(), read+r.read.Load()
				if (lost > 20_000 || lost > 0 && round >= rounds) && read > 0 {
					break
				}
			}
			assert.Positive(t, lost, "no change was ever lost to another: nothing raced")
			assert.Positive(t, read, "the reader never saw a settled pair")
		})
	}
}

// A keyChain is a pair whose key moves along places 0, 1, 2 and back, always under one state.
type keyChain struct {
	pair *Pair
	impl swap

	up, down [chainPlaces - 1]atomic.Int64 // moves i -> i+1, and i+1 -> i
	lost     atomic.Int64
}

const (
	chainPlaces = 3
	chainState  = 7
)

// move tries to move the key, and counts whether it did.
func (c *keyChain) move(from, to uint64, count *atomic.Int64) {
	if c.impl.do(c.pair, from, chainState, to, chainState) {
		count.Add(1)
	} else {
		c.lost.Add(1)
	}
}

// wander tries to move the key from end to end and back.
func (c *keyChain) wander(times int) {
	for range times {
		for i := range uint64(chainPlaces - 1) {
			c.move(i, i+1, &c.up[i])
		}
		for i := uint64(chainPlaces - 1); i > 0; i-- {
			c.move(i, i-1, &c.down[i-1])
		}
	}
}

// Goal: where the state repeats, a key that has changed in between is still noticed.
// Method: what crosses a link up must come down before it can cross again, so a key that was
// replaced though it was not the expected one breaks the balance of some link.
func TestPairKeyIsCheckedUnderARepeatedState(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))))
	for _, impl := range swaps() {
		t.Run(impl.name, func(t *testing.T) {
			chain := &keyChain{pair: &Pairs(NewLines(1))[0], impl: impl}
			chain.pair.State.Store(chainState)
			// On a busy machine a round may pass without a clash.
			for round := 0; round == 0 || chain.lost.Load() == 0 && round < 200; round++ {
				var wanderers sync.WaitGroup
				for range 4 {
					wanderers.Go(func() { chain.wander(100_000) })
				}
				wanderers.Wait()
			}

			require.Equal(t, uint64(chainState), chain.pair.State.Load())
			at := chain.pair.Key.Load()
			require.Less(t, at, uint64(chainPlaces))
			for i := range uint64(chainPlaces - 1) {
				crossed := int64(0)
				if at > i {
					crossed = 1
				}
				balance := chain.up[i].Load() - chain.down[i].Load()
				require.Equal(t, crossed, balance, "moves over link %d, up less down", i)
				assert.Positive(t, chain.up[i].Load(), "link %d was never crossed", i)
			}
			assert.Positive(t, chain.lost.Load(), "no move was ever lost to another")
		})
	}
}

// Goal: the stand-in waits while another holds the pair, and then decides on what he has left.
// Method: hold the pair by hand, start two that want it, and let go once both have had their turn.
func TestPairTwinWaitsForItsHolder(t *testing.T) {
	for _, settled := range []uint64{5, 6} {
		pair := &Pairs(NewLines(1))[0]
		pair.State.Store(PairBusy)
		results := make(chan bool, 2)
		for range 2 {
			go func() { results <- pair.compareAndSwapTwin(0, 5, 1, 8) }()
		}
		for range 10_000 {
			runtime.Gosched()
		}
		require.Empty(t, results, "one did not wait")
		pair.State.Store(settled)

		first, second := <-results, <-results
		require.False(t, first && second, "two replaced the same pair")
		require.Equal(t, settled == 5, first || second)
		if settled == 5 {
			require.Equal(t, uint64(1), pair.Key.Load())
			require.Equal(t, uint64(8), pair.State.Load())
		} else {
			require.Equal(t, uint64(0), pair.Key.Load())
			require.Equal(t, uint64(6), pair.State.Load())
		}
	}
}
