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
	return newSoak(settings{seed: 5, goroutines: 4, batches: 24}, parts)
}

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
// should, whatever the machine does meanwhile. Method: a run of the least number of rounds, small
// ones, with all structures; more rounds where something has not happened yet.
func TestAShortRunSeesEverything(t *testing.T) {
	s := soakOf(t, everything...)
	var err error
	for range 10 {
		require.NoError(t, s.survive(defaultLeast))
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
