package tallyring

// Point is a place between a load and the compare-and-swap that rests on it, or between two loads
// of which the order matters. A build with the tag tallyring_hold calls a hook there, so that a
// test can stop one goroutine and let others pass. In any other build a point is nothing: no
// instruction, no word, no symbol.
type Point uint8

// Points of package atomicring, most of which tables and limiters pass as well.
const (
	RingLooked  Point = iota // a head is loaded, its slots and sums are not
	RingCount                // before the swap of a head or a packed word that counts or takes back
	RingConfirm              // before the second load of a head, which proves a denial or a reading
	RingSeal                 // before the swap that seals a head
	RingCarry                // before the swap that copies a sealed head to its slot
	RingMove                 // before the swap that moves a head on
	RingLate                 // before the swap of an older bucket's slot, for a late add
	RingRefund               // before the swap of an older bucket's slot, for a refund
	RingChanged              // a slot has changed, and the sums are not spoiled yet
	RingSpoil                // before a swap that spoils a sum
	RingSum                  // a head is loaded, the slots that are to be summed are not
	RingStore                // before a swap that stores a sum

	// Points of package table.

	TableLooked  // a state is loaded, its fingerprint is not
	TableHit     // before the swap of a settled state
	TableConfirm // before the second load of a state, which proves a denial or a reading
	TableExtend  // a free cell is seen, and home's reach does not cover it yet
	TableRaise   // before the swap that raises the horizon
	TableClaim   // before the swap that claims a cell
	TableResolve // a pending cell is seen, the probe range is not scanned again yet
	TableKill    // before the swap that makes a pending cell dead
	TableCommit  // before the swap that settles a pending cell

	// Points of package pertcore.

	LimiterLooked  // a shard is loaded, the center is not
	LimiterKey     // the center's head is loaded, its key is not
	LimiterWeigh   // the center is loaded, the limit is not
	LimiterSpend   // before the swap that spends from a shard
	LimiterCount   // before the swap that counts in the center, or takes back
	LimiterSum     // before a shard is loaded to add up
	LimiterConfirm // before the second load of the center
	LimiterClose   // before a swap that closes a shard
	LimiterFold    // before the swap that ends a generation
	LimiterSeal    // before the swap that seals the center's head
	LimiterMove    // before the swap that moves the center's head on
	LimiterStored  // a new limit is stored, the generation has not ended yet
	CounterTurn    // before the swap that makes a bucket a counter's newest
	CounterAdd     // the newest bucket is that of an add, which is not counted yet
	CounterMerge   // before a ring is read to merge
	CounterConfirm // before the second load of the newest bucket

	// Points of the stand-in for Pair.CompareAndSwap.

	PairLatch // before the swap that latches a pair
	PairHeld  // a pair is latched, its new words are not stored yet
	PairWait  // before another look at a pair that another goroutine has latched

	// Points is how many there are.
	Points = int(iota)
)
