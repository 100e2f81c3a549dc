package tallyring

import "runtime"

// PairBusy is a state that no owner of a Pair ever stores. Where the machine has no double-word
// compare-and-swap, the stand-in for it holds the pair under this state for a few instructions. A
// reader that meets it knows nothing about the pair and reads again; a compare-and-swap on a state
// read before fails, as it must.
const PairBusy = ^uint64(0)

// CompareAndSwap replaces key and state together if they are exactly oldKey and oldState, and
// reports whether it did. Neither state may be PairBusy. It is atomic and sequentially consistent
// with the atomic operations of both words, and lock-free where PairLockFree reports true.
func (p *Pair) CompareAndSwap(oldKey, oldState, newKey, newState uint64) bool {
	if pairNative {
		return compareAndSwapPair(p, oldKey, oldState, newKey, newState)
	}
	return p.compareAndSwapTwin(oldKey, oldState, newKey, newState)
}

// PairLockFree reports whether Pair.CompareAndSwap is one instruction of the machine, or a sequence
// that cannot block. Otherwise a goroutine stopped inside of it makes others wait that want to
// change the same pair's key.
func PairLockFree() bool { return pairNative }

// compareAndSwapTwin is the specification of compareAndSwapPair, and stands in for it. The state
// word is the latch: who moves it from oldState to PairBusy owns the key word until he stores a
// state again.
//
// If a compare-and-swap of the state alone comes first, the latch fails and nothing has changed. If
// the latch comes first, that compare-and-swap fails, since it expects a state that is not
// PairBusy.
func (p *Pair) compareAndSwapTwin(oldKey, oldState, newKey, newState uint64) bool {
	for {
		state := p.State.Load()
		if state == PairBusy {
			if Holding {
				AtPoint(PairWait)
			}
			runtime.Gosched() // ends when the owner, who waits for nothing, has stored a state
			continue
		}
		if state != oldState || p.Key.Load() != oldKey {
			return false
		}
		if Holding {
			AtPoint(PairLatch)
		}
		if p.State.CompareAndSwap(oldState, PairBusy) {
			break
		}
	}
	// The pair is ours. The key may have changed between its load and the latch, if the state has
	// repeated; then nothing is replaced.
	if Holding {
		AtPoint(PairHeld)
	}
	if p.Key.Load() != oldKey {
		p.State.Store(oldState)
		return false
	}
	p.Key.Store(newKey)
	p.State.Store(newState)
	return true
}
