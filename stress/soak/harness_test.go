package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// soakOf returns a small run on some structures.
func soakOf(t *testing.T, parts ...func(*builder) error) *soak {
	t.Helper()
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	batches := 24
	if !tallyring.PairLockFree() {
		batches = 8 // a build without assembly, such as that of the race detector, is slower
	}
	return newSoak(settings{seed: 5, goroutines: 4, batches: batches}, parts)
}

// A run without a fault lives through some rounds; one with a fault ends when it is seen, which may
// take long where the machine is busy.
const (
	rightRounds = 60
	faultRounds = 2000
)

// survive lives through some rounds, and returns the first violation.
func (s *soak) survive(rounds int) error {
	for range rounds {
		if err := s.round(); err != nil {
			return err
		}
		s.rounds++
	}
	return nil
}

// noMemory stands for that of structures that do not say how much they take.
func noMemory() int { return 0 }

// Goal: no structure of the engine violates anything, and a short run sees everything that it
// should, whatever the machine does meanwhile. Method: small rounds with all structures, as far as
// the first look at the heap; more of them where something has not happened yet.
func TestAShortRunSeesEverything(t *testing.T) {
	s := soakOf(t, everything...)
	var err error
	for range 15 {
		require.NoError(t, s.survive(heapRounds))
		if err = missing(s.happened()); err == nil {
			break
		}
	}
	require.NoError(t, err)
	require.NoError(t, s.quickEnough())
	require.Greater(t, s.epochs, 0)
	for _, name := range s.builder.names {
		sum := s.builder.desks[name].sum()
		require.Positive(t, sum.decisions+sum.adds, name)
		require.Positive(t, sum.latency.TotalCount(), name)
		require.EqualValues(t, s.rounds, s.builder.desks[name].rounds, name)
	}
}

// noLoad is embedded by loads that do little.
type noLoad struct{}

func (noLoad) storm(*worker)                       {}
func (noLoad) settle(*round, tallyring.Tick) error { return nil }
func (noLoad) bytes() int                          { return 0 }
