package atomicring

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// stage is a tagged ring whose rotation is driven by hand, one compare-and-swap at a time, as by
// a goroutine that may be stopped between any two. Buckets are numbers small enough that none is
// reduced.
type stage struct {
	t     *testing.T
	g     *Tagged
	words []atomic.Uint64
}

const stageWidth = 1 << 20

// newest is the bucket of every stage's head at first; bucket newest-k counts 10+k, but the head
// 5.
const newest = 100

// newStage returns a ring of which every slot counts something.
func newStage(t *testing.T, slots int, summed bool) *stage {
	g, err := NewTagged(tallyring.Window{Slots: slots, Width: stageWidth}, 0)
	require.NoError(t, err)
	if summed {
		g = g.Summed()
	}
	s := &stage{t, &g, make([]atomic.Uint64, g.Words())}
	for back := slots - 1; back > 0; back-- {
		s.add(newest-back, uint64(10+back))
	}
	s.add(newest, 5)
	return s
}

func eachStage(t *testing.T, test func(s *stage, slots int)) {
	for _, slots := range []int{2, 3, 4, 7, 8, 61} {
		for _, summed := range []bool{false, true} {
			t.Run(fmt.Sprintf("slots=%d/summed=%t", slots, summed), func(t *testing.T) {
				test(newStage(t, slots, summed), slots)
			})
		}
	}
}

// at returns the first tick of a bucket.
func at(bucket int) tallyring.Tick { return tallyring.Tick(bucket) * stageWidth }

func (s *stage) head() uint64 { return s.words[0].Load() }

// bucket returns the bucket of a head.
func (s *stage) bucket(head uint64) int { return int(head >> s.g.IndexShift()) }

// seal is the first step of a rotation. It returns the sealed head.
func (s *stage) seal() uint64 {
	s.t.Helper()
	head := s.head()
	require.True(s.t, s.words[0].CompareAndSwap(head, head|s.g.sealed))
	return head | s.g.sealed
}

// copies is the second step.
func (s *stage) copies(sealed uint64) {
	s.g.Carry(s.words, sealed, uint64(s.bucket(sealed)), sealed&s.g.maxCount)
}

// turn is the last step. It tells whether this was the one that turned the ring.
func (s *stage) turn(sealed uint64, to int) bool {
	return s.words[0].CompareAndSwap(sealed, uint64(to)<<s.g.IndexShift())
}

// add counts as Ring.Add does.
func (s *stage) add(bucket int, count uint64) bool {
	for {
		if v := s.g.TryAdd(s.words, s.head(), at(bucket), count); v != Again {
			return v == Admitted
		}
	}
}

// allow decides as Ring.Allow does.
func (s *stage) allow(bucket int, cost, limit uint64) bool {
	for {
		if v := s.g.Try(s.words, s.head(), at(bucket), cost, limit); v != Again {
			return v == Admitted
		}
	}
}

func (s *stage) refund(bucket int, count uint64) {
	for s.g.TryRefund(s.words, s.head(), at(bucket), count) == Again {
	}
}

// read returns the sum of the slots in the window that ends with a bucket.
func (s *stage) read(bucket int) uint64 {
	for {
		if r, v := s.g.TryRead(s.words, s.head(), at(bucket)); v != Again {
			return r.High
		}
	}
}

// total returns what a stage counts in the window that ends with bucket newest+ahead, if nothing
// has happened since it was made.
func total(slots, ahead int) (sum uint64) {
	for back := 0; back < slots-ahead; back++ {
		sum += uint64(10 + back)
		if back == 0 {
			sum -= 5
		}
	}
	return sum
}

func (s *stage) raw() []uint64 { return raw(&Ring{words: s.words}) }

// holdsStill runs do and checks that it changes no word.
func (s *stage) holdsStill(what string, do func()) {
	s.t.Helper()
	before := s.raw()
	do()
	require.Equal(s.t, before, s.raw(), what)
}

// TestStalledRotatorIsHelped stops a goroutine in the middle of a rotation, after each of its
// steps. Another one's event goes on at once, nothing is lost or counted twice, and when the
// first one wakes up and goes through all of its steps, it changes nothing.
func TestStalledRotatorIsHelped(t *testing.T) {
	stops := map[string]func(s *stage) (sealed uint64){
		"after the seal": func(s *stage) uint64 { return s.seal() },
		"after the copy": func(s *stage) uint64 {
			sealed := s.seal()
			s.copies(sealed)
			return sealed
		},
		"after the turn": func(s *stage) uint64 {
			sealed := s.seal()
			s.copies(sealed)
			require.True(s.t, s.turn(sealed, newest+1))
			return sealed
		},
	}
	for name, stop := range stops {
		eachStage(t, func(s *stage, slots int) {
			sealed := stop(s)
			require.Equal(t, total(slots, 1), s.read(newest+1), name)
			require.True(t, s.allow(newest+1, 3, 1<<20), name)
			require.Equal(t, newest+1, s.bucket(s.head()), name)
			require.Equal(t, total(slots, 1)+3, s.read(newest+1), name)
			s.holdsStill(name, func() {
				s.copies(sealed)
				require.False(t, s.turn(sealed, newest+1))
				require.False(t, s.words[0].CompareAndSwap(sealed&^s.g.sealed, sealed))
			})
		})
	}
}

// TestHelperGoesAtLeastOneBucketOn lets a call whose tick is still in the sealed bucket, or
// before, finish the rotation: it turns the ring by one bucket and is counted there, late.
func TestHelperGoesAtLeastOneBucketOn(t *testing.T) {
	for _, behind := range []int{0, 1, 5} {
		eachStage(t, func(s *stage, slots int) {
			s.seal()
			d, verdict := s.g.TryTake(s.words, s.head(), at(newest-behind), 1, 1<<20)
			require.Equal(t, Again, verdict, "it has turned the ring: %v", d)
			d, verdict = s.g.TryTake(s.words, s.head(), at(newest-behind), 1, 1<<20)
			require.Equal(t, Admitted, verdict)
			require.Equal(t, at(newest+1), d.At)
			require.Equal(t, total(slots, 1)+1, s.read(newest+1))
		})
	}
}

// TestStaleCarryChangesNothing wakes up the copier of a rotation long after, when the same slot
// holds a newer bucket, or still its own with another count. It finds neither older and leaves
// it.
func TestStaleCarryChangesNothing(t *testing.T) {
	eachStage(t, func(s *stage, slots int) {
		sealed := s.seal()
		s.copies(sealed)
		require.True(t, s.turn(sealed, newest+1))
		if slots > 2 {
			s.refund(newest, 2)
		}
		for ahead := 1; ahead < 3*slots; ahead++ {
			s.holdsStill(fmt.Sprintf("%d buckets on", ahead), func() {
				s.copies(sealed)
				require.False(t, s.turn(sealed, newest+1))
			})
			s.add(newest+ahead, uint64(ahead))
		}
	})
}

// TestRefundBetweenCopyAndTurn takes back an event of the sealed bucket when its count is in the
// slot already and the head still shows it. The refund must reach the copy: whoever takes from a
// sealed head, or has the larger of both counts win, loses it.
func TestRefundBetweenCopyAndTurn(t *testing.T) {
	eachStage(t, func(s *stage, slots int) {
		sealed := s.seal()
		s.copies(sealed)
		require.Equal(t, Again, s.g.TryRefund(s.words, s.head(), at(newest), 2))
		s.refund(newest, 2)
		require.Equal(t, total(slots, 1)-2, s.read(newest+1))
		s.holdsStill("the copier wakes up", func() { s.copies(sealed); s.turn(sealed, newest+1) })
	})
}

// TestRefundAgainstSeal takes both orders of a refund and the seal that it races with, the
// refund's look at the head coming first.
func TestRefundAgainstSeal(t *testing.T) {
	eachStage(t, func(s *stage, slots int) { // the refund is first: the seal fails
		looked := s.head()
		require.Equal(t, Admitted, s.g.TryRefund(s.words, looked, at(newest), 2))
		require.False(t, s.words[0].CompareAndSwap(looked, looked|s.g.sealed))
		require.True(t, s.add(newest+1, 1))
		require.Equal(t, total(slots, 1)-2+1, s.read(newest+1))
	})
	eachStage(t, func(s *stage, slots int) { // the seal is first: the refund fails, and helps
		looked := s.head()
		sealed := s.seal()
		s.holdsStill("a refund that looked before the seal", func() {
			require.Equal(t, Again, s.g.TryRefund(s.words, looked, at(newest), 2))
		})
		s.refund(newest, 2)
		require.False(t, s.turn(sealed, newest+1), "the refund should have turned the ring")
		require.Equal(t, total(slots, 1)-2, s.read(newest+1))
	})
}

// TestDecisionAgainstSeal takes both orders of an admission and the seal that it races with.
func TestDecisionAgainstSeal(t *testing.T) {
	limit := uint64(1 << 20)
	eachStage(t, func(s *stage, slots int) { // the admission is first: the seal fails
		looked := s.head()
		require.Equal(t, Admitted, s.g.Try(s.words, looked, at(newest), 4, limit))
		require.False(t, s.words[0].CompareAndSwap(looked, looked|s.g.sealed))
		require.True(t, s.add(newest+1, 1))
		require.Equal(t, total(slots, 1)+4+1, s.read(newest+1))
	})
	eachStage(t, func(s *stage, slots int) { // the seal is first: the admission fails
		looked := s.head()
		s.seal()
		for name, try := range map[string]func() Verdict{
			"Try":    func() Verdict { return s.g.Try(s.words, looked, at(newest), 4, limit) },
			"TryAdd": func() Verdict { return s.g.TryAdd(s.words, looked, at(newest), 4) },
			"unlimited": func() Verdict {
				return s.g.Try(s.words, looked, at(newest), 4, tallyring.Unlimited)
			},
			"peek": func() Verdict { return s.g.Try(s.words, looked, at(newest), 0, limit) },
			"denied": func() Verdict {
				return s.g.Try(s.words, looked, at(newest)+stageWidth-1, 2, total(slots, 0)-9)
			},
			"read": func() Verdict {
				_, verdict := s.g.TryRead(s.words, looked, at(newest))
				return verdict
			},
		} {
			s.holdsStill(name, func() {
				if v := try(); name != "denied" || v != Denied {
					require.Equal(t, Again, v, name)
				}
			})
		}
	})
}

// TestDecisionUnderSealedHead decides while a rotation is stopped: as of the next bucket, a
// denial and a peek by loads alone, whatever tick they are given in the bucket or before it.
func TestDecisionUnderSealedHead(t *testing.T) {
	for _, copied := range []bool{false, true} {
		eachStage(t, func(s *stage, slots int) {
			sealed := s.seal()
			if copied {
				s.copies(sealed)
			}
			held := total(slots, 1)
			for _, now := range []tallyring.Tick{at(newest) - 1, at(newest), at(newest+1) - 1} {
				s.holdsStill("a denial", func() {
					d, verdict := s.g.TryTake(s.words, s.head(), now, 1, held)
					require.Equal(t, Denied, verdict)
					require.Equal(t, at(newest+1), d.At)
					require.Zero(t, d.Remaining)
					require.Equal(t, Denied, s.g.Try(s.words, s.head(), now, 1, held))
					require.Equal(t, Admitted, s.g.Try(s.words, s.head(), now, 0, held))
					require.Equal(t, Denied, s.g.Try(s.words, s.head(), now, 0, held-1))
					require.Equal(t, held, s.read(newest))
				})
			}
			s.holdsStill("a later bucket's denial", func() {
				require.Equal(t, total(slots, 2), s.read(newest+2))
				require.False(t, s.allow(newest+2, 1, max(total(slots, 2), 1)-1))
			})
			require.True(t, s.allow(newest, 1, held+1))
			require.Equal(t, newest+1, s.bucket(s.head()))
			require.Equal(t, held+1, s.read(newest+1))
		})
	}
}

// TestLateAddAgainstCopy takes both orders of a late add to the oldest bucket and the copy that
// takes its slot, and of a late add to the bucket that has just become an older one.
func TestLateAddAgainstCopy(t *testing.T) {
	eachStage(t, func(s *stage, slots int) { // the add is first: it is in the ring, then leaves it
		oldest := newest - slots + 1
		looked := s.head()
		sealed := s.seal()
		verdict := s.g.TryAdd(s.words, looked, at(oldest), 7)
		require.Equal(t, Admitted, verdict)
		s.copies(sealed)
		require.True(t, s.turn(sealed, newest+1))
		require.Equal(t, total(slots, 1), s.read(newest+1))
		require.False(t, s.add(oldest, 7))
	})
	eachStage(t, func(s *stage, slots int) { // the copy is first: the add is dropped
		oldest := newest - slots + 1
		looked := s.head()
		s.copies(s.seal())
		s.holdsStill("an add that looked before the seal", func() {
			require.Equal(t, Again, s.g.TryAdd(s.words, looked, at(oldest), 7))
		})
		require.False(t, s.add(oldest, 7))
		require.Equal(t, total(slots, 1), s.read(newest+1))
	})
	eachStage(t, func(s *stage, slots int) { // late by one bucket once the ring has turned
		s.seal()
		require.True(t, s.add(newest, 7))
		require.Equal(t, newest+1, s.bucket(s.head()), "the add should have turned the ring")
		require.Equal(t, total(slots, 1)+7, s.read(newest+1))
	})
}

// TestEmptyHeadTurnsWithoutSeal races a rotation of a head that counts nothing, which has no
// seal, with an event in its bucket, in both orders.
func TestEmptyHeadTurnsWithoutSeal(t *testing.T) {
	empty := func(s *stage) (looked uint64) {
		s.refund(newest, 5)
		return s.head()
	}
	eachStage(t, func(s *stage, slots int) { // the event is first: the turn fails, then carries it
		looked := empty(s)
		require.True(t, s.add(newest, 3))
		require.False(t, s.turn(looked, newest+1))
		require.True(t, s.add(newest+1, 1))
		require.Equal(t, total(slots, 1)-5+3+1, s.read(newest+1))
	})
	eachStage(t, func(s *stage, slots int) { // the turn is first: the event is late
		looked := empty(s)
		require.True(t, s.turn(looked, newest+1))
		s.holdsStill("an add that looked before the turn", func() {
			require.Equal(t, Again, s.g.TryAdd(s.words, looked, at(newest), 3))
			require.Equal(t, Again, s.g.Try(s.words, looked, at(newest), 3, 1<<20))
		})
		require.True(t, s.add(newest, 3))
		require.Equal(t, total(slots, 1)-5+3, s.read(newest+1))
	})
}

// actor is a goroutine of the next test: what it saw of the head when it last looked, and the
// rotation that it is in the middle of, if any.
type actor struct {
	looked uint64
	sealed uint64
}

// TestAnyOrderOfStaleSteps runs actors one step at a time in random order, each with a head that
// it may have seen long ago, through adds, admissions, refunds and single steps of rotations,
// beside a ledger of what succeeded. After every step each bucket in the ring counts exactly what
// the ledger says.
func TestAnyOrderOfStaleSteps(t *testing.T) {
	var stale, helped, summed int
	for _, slots := range []int{2, 3, 4, 7} {
		for range rounds(300) {
			seed := rand.Uint64()
			a, b, c := runActors(t, slots, seed)
			stale, helped, summed = stale+a, helped+b, summed+c
		}
	}
	require.Greater(t, stale, rounds(10_000), "attempts that met a changed head")
	require.Greater(t, helped, rounds(1000), "rotations that one actor began and another ended")
	require.Greater(t, summed, rounds(2000), "steps after which the sums could be used")
}

func runActors(t *testing.T, slots int, seed uint64) (stale, helped, summed int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := newStage(t, slots, seed%2 == 0)
	kept := map[int]int{newest: 5}
	for back := 1; back < slots; back++ {
		kept[newest-back] = 10 + back
	}
	actors := make([]actor, 4)
	for i := range actors {
		actors[i].looked = s.head()
	}
	for step := range 300 {
		a := &actors[rng.IntN(len(actors))]
		if rng.IntN(3) == 0 {
			a.looked = s.head()
			continue
		}
		changed := a.looked != s.head()
		if s.step(rng, a, kept) == Again && changed {
			stale++
		}
		if a.sealed != 0 && s.bucket(s.head()) > s.bucket(a.sealed) {
			helped++
			if rng.IntN(2) == 0 {
				a.sealed = 0
			}
		}
		what := fmt.Sprintf("slots %d, seed %#x, step %d", slots, seed, step)
		s.check(kept, slots, what)
		summed += s.checkSums(kept, slots, what)
	}
	return stale, helped, summed
}

// checkSums compares the sums with the ledger if they can be used, and returns 1 then, else 0. A
// sealed head is not decided on by them: its oldest slot may be overwritten.
func (s *stage) checkSums(kept map[int]int, slots int, what string) int {
	s.t.Helper()
	head := s.head()
	if s.g.first == 1 || head&s.g.sealed != 0 {
		return 0
	}
	between, oldest, ok := s.g.recall(sumsOf(s.words), head&^s.g.maxCount)
	if !ok {
		return 0
	}
	want := 0
	for back := 1; back < slots-1; back++ {
		want += kept[s.bucket(head)-back]
	}
	if int(between) != want || int(oldest) != kept[s.bucket(head)-slots+1] {
		s.t.Fatalf("%s: sums are %d and %d, want %d and %d; words %x", what, between, oldest,
			want, kept[s.bucket(head)-slots+1], s.raw())
	}
	return 1
}

// step lets an actor do one thing and enters what succeeded.
func (s *stage) step(rng *rand.Rand, a *actor, kept map[int]int) (verdict Verdict) {
	bucket := s.bucket(a.looked) + rng.IntN(5) - 3
	switch rng.IntN(6) {
	case 0, 1:
		if verdict = s.g.TryAdd(s.words, a.looked, at(bucket), 2); verdict == Admitted {
			kept[bucket] += 2
		}
	case 2:
		limit := [...]uint64{30, 1 << 20, tallyring.Unlimited}[rng.IntN(3)]
		verdict = s.g.Try(s.words, a.looked, at(bucket), 1, limit)
		if verdict == Admitted {
			kept[s.bucket(a.looked)]++
		}
	case 3:
		if verdict = s.g.TryRefund(s.words, a.looked, at(bucket), 1); verdict == Admitted {
			kept[bucket]--
		}
	case 4:
		if plain := a.looked &^ s.g.sealed; plain&s.g.maxCount != 0 && a.sealed == 0 {
			if s.words[0].CompareAndSwap(plain, plain|s.g.sealed) {
				a.sealed = plain | s.g.sealed
			}
		}
	case 5:
		if a.sealed == 0 {
			break
		}
		s.copies(a.sealed)
		if rng.IntN(2) == 0 {
			s.turn(a.sealed, s.bucket(a.sealed)+1+rng.IntN(2))
			a.sealed = 0
		}
	}
	return verdict
}

// check compares each bucket that is in the ring with the ledger. Of a sealed ring the oldest
// bucket has left.
func (s *stage) check(kept map[int]int, slots int, what string) {
	s.t.Helper()
	head := s.head()
	oldest := s.bucket(head) - slots + 1
	if head&s.g.sealed != 0 {
		oldest++
	}
	for bucket := oldest; bucket <= s.bucket(head); bucket++ {
		held := head & s.g.maxCount
		if bucket < s.bucket(head) {
			held = 0
			if word := s.g.slot(s.words, uint64(bucket)).Load(); s.bucket(word) == bucket {
				held = word & s.g.maxCount
			}
		}
		if int(held) != kept[bucket] {
			s.t.Fatalf("%s: bucket %d counts %d, want %d; head %x, words %x",
				what, bucket, held, kept[bucket], head, s.raw())
		}
	}
}

// TestNewestStaysWhereIndexesBeginAgain takes back all that the newest bucket counts where its
// stored index is 0, so that the head is the word of a ring that was never used. Its older slots
// tell that it was: a late event is counted in the newest bucket all the same.
func TestNewestStaysWhereIndexesBeginAgain(t *testing.T) {
	for _, f := range forms {
		w := tallyring.Window{Slots: 2, Width: time.Hour}
		r := f.build(w)
		far := r.packed.far
		if r.word == nil {
			far = r.tagged.far
		}
		turn := tallyring.Tick(1<<(64-far)) * tallyring.Tick(w.Width)
		require.True(t, r.Add(turn-1, 4))
		require.True(t, r.Add(turn, 3))
		r.Refund(turn, 3)
		require.Zero(t, storedIndex(r), f.name)
		require.Equal(t, uint64(4), r.Read(turn).High)
		require.Equal(t, turn, r.Take(turn-1, 1, 10).At, f.name)
		require.Equal(t, uint64(5), r.Read(turn).High)
	}
}

func storedIndex(r *Ring) uint64 {
	if r.word != nil {
		return r.word.Load() >> r.packed.IndexShift()
	}
	return r.words[0].Load() >> r.tagged.IndexShift()
}
