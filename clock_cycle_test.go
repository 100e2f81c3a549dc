package tallyring

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeMachine has a true time, a cycle counter and a system clock, and every reading takes time.
type fakeMachine struct {
	random  *rand.Rand
	trueNs  float64 // nanoseconds
	rate    float64 // counts per nanosecond
	counted float64 // what the counter showed at trueNs 0
	noiseNs float64 // how far the system clock may be off
}

func (m *fakeMachine) readCounter() uint64 {
	m.trueNs += 5 + 10*m.random.Float64()
	return uint64(m.counted + m.trueNs*m.rate)
}

func (m *fakeMachine) readClock() Tick {
	m.trueNs += 20 + 20*m.random.Float64()
	if m.random.IntN(50) == 0 {
		m.trueNs += 10_000 // another program had the processor
	}
	return Tick(m.trueNs + m.noiseNs*(2*m.random.Float64()-1))
}

// idle lets time pass, from nanoseconds to minutes, mostly little.
func (m *fakeMachine) idle() {
	most := []float64{100, 1e3, 1e5, 1e7}[m.random.IntN(4)]
	if m.random.IntN(10_000) == 0 {
		most = 6e10
	}
	m.trueNs += most * m.random.Float64()
}

// cycleClockOn returns a machine in its first second, and the clock of its counter.
func cycleClockOn(rate float64) (*fakeMachine, *cycleClock) {
	machine := &fakeMachine{random: rand.New(rand.NewPCG(5, 6)), trueNs: 1e9, rate: rate,
		counted: 1e12, noiseNs: 50}
	return machine, &cycleClock{counter: machine.readCounter, monotonic: machine.readClock}
}

// follow reads the clock many times, fails if it goes back, and returns the last tick and how far
// from the true time it ever was once learnNs had passed.
func follow(t *testing.T, m *fakeMachine, clock Clock, latest Tick, learnNs float64) (
	Tick, float64) {
	t.Helper()
	from, worstNs := m.trueNs+learnNs, 0.0
	for range 30_000 {
		m.idle()
		before := m.trueNs
		now := clock.Now()
		require.GreaterOrEqual(t, now, latest, "at %.0f ns", m.trueNs)
		latest = now
		if before > from {
			worstNs = max(worstNs, before-float64(now), float64(now)-m.trueNs)
		}
	}
	return latest, worstNs
}

// Goal: the clock of the cycle counter never goes back and stays near the true time, at any rate of
// the counter, also after the rate has drifted, and after the counter was reset, as when a machine
// wakes up. Method: a made-up
// machine whose true time is known; its system clock is off by up to 50 ns, so a line between two
// readings of it is off by a few times that.
func TestCycleClockFollowsTheTrueTime(t *testing.T) {
	const farNs = 250
	for name, rate := range map[string]float64{
		"24 MHz": 0.024, "1 GHz": 1, "5.7 GHz": 5.7,
	} {
		t.Run(name, func(t *testing.T) {
			machine, clock := cycleClockOn(rate)
			latest, worstNs := follow(t, machine, clock, 0, float64(10*firstSpan))
			assert.Less(t, worstNs, float64(farNs))

			const slower = 1 - 50e-6
			machine.counted += machine.trueNs * rate * (1 - slower)
			machine.rate *= slower
			latest, worstNs = follow(t, machine, clock, latest, float64(3*baseline))
			assert.Less(t, worstNs, float64(farNs), "after the counter slowed down")

			for range 4 {
				machine.counted = -machine.trueNs * machine.rate
				latest, worstNs = follow(t, machine, clock, latest, float64(4*lastSpan))
				assert.Less(t, worstNs, float64(farNs), "after a reset")
			}
		})
	}
}

// Goal: whoever still reads an old line returns no later tick than any reader of the next one.
// Method: an old line that runs ahead of the system clock; the next one after a little while, after
// a long one, and after a reset of the counter.
func TestTimelineBeginsNoEarlierThanTheOldOneEnds(t *testing.T) {
	old := &timeline{start: 1e9, span: 1e8, tick: 1e9, rate: 1 << rateBits, sampleStart: 5e8,
		sampleTick: 5e8, nextStart: 5e8, nextTick: 5e8}
	last, covered := old.at(old.start + old.span - 1)
	require.True(t, covered)
	require.LessOrEqual(t, last, old.end())
	for count, tick := range map[uint64]Tick{11e8: 1e9 + 5, 12e8: 2e9, 7: 1e9 + 5, 8: 3e9} {
		next := old.next(count, tick)
		assert.GreaterOrEqual(t, next.tick, old.end(), "count %d, tick %d", count, tick)
		assert.GreaterOrEqual(t, next.tick, tick, "count %d, tick %d", count, tick)
	}
}

// Goal: the counter's clock and the system's tell the same time. Method: each reading of the one
// between two of the other.
func TestCycleClockAgreesWithMonotonic(t *testing.T) {
	const tolerance = Tick(100 * time.Microsecond)
	cycle, monotonic := Cycle(), Monotonic()
	early, late := Tick(0), Tick(0)
	for range 200_000 {
		before := monotonic.Now()
		now := cycle.Now()
		after := monotonic.Now()
		early, late = max(early, before-now), max(late, now-after)
	}
	t.Logf("cycle counter used: %v; early by %d ns at most, late by %d ns", cycle != monotonic,
		max(early, 0), max(late, 0))
	assert.Less(t, early, tolerance)
	assert.Less(t, late, tolerance)
}

// Goal: a relaxed reading is never ahead of an ordered one that follows it, and hardly behind one
// that precedes it.
func TestRelaxedCycleClockIsNeverAhead(t *testing.T) {
	const tolerance = Tick(10 * time.Microsecond)
	cycle, relaxed := Cycle(), RelaxedCycle()
	early := Tick(0)
	for range 200_000 {
		before := cycle.Now()
		now := relaxed.Now()
		after := cycle.Now()
		require.LessOrEqual(t, now, after)
		early = max(early, before-now)
	}
	t.Logf("early by %d ns at most", early)
	assert.Less(t, early, tolerance)
}
