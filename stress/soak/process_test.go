package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Goal: memory above what the structures say, a goroutine that stays, a median that waits, and an
// event that never happens each end a run. Method: one by one.
func TestFaultsOfTheProcessAreSeen(t *testing.T) {
	h := heap{before: 1000}
	require.NoError(t, h.check(1000+5000+slackBytes, 5000, 0))
	require.NoError(t, h.check(1000+7000+5000+slackBytes, 5000, 7000))
	require.EqualError(t, h.check(1000+7000+5101+slackBytes, 5000, 7000), "1053677 bytes are in "+
		"use beside the books, the structures say they take 5000, want at most 1053676")

	s := soakOf(t, plainPart(plainShapes["strict"], "none"))
	require.NoError(t, s.survive(1))
	stay := make(chan struct{})
	for range 20 { // some that end now may have been counted before
		go func() { <-stay }()
	}
	require.Regexp(t, `^process: \d+ goroutines run at rest, want the \d+ of before`, s.survive(1))
	close(stay)

	require.NoError(t, s.quickEnough())
	for range 1_000_000 {
		s.builder.desks["plain"].tallies[1].took(slowMedian.Nanoseconds() * 2)
	}
	require.ErrorContains(t, s.quickEnough(), "plain: half of the decisions took 10")

	require.EqualError(t, missing([]happening{{"this", 1}, {"that", 0}}),
		"the run has not shown what it should: never happened: that")
}

// Goal: a structure that grows beyond what it says is seen in a run. Method: one that says nothing.
func TestMemoryIsLookedAt(t *testing.T) {
	s := soakOf(t, func(b *builder) error {
		load := newWindowLoad(b.desk("plain"), plainShapes["strict"], 700, noMemory,
			newPlainWindow(plainShapes["strict"], "none"))
		keep := make([][]byte, 0, 100)
		load.tune = func(uint64) error {
			if len(keep) < cap(keep) {
				keep = append(keep, make([]byte, 1<<18))
			}
			return nil
		}
		b.add(load)
		return nil
	})
	err := s.survive(heapRounds)
	require.Regexp(t, `^memory: \d+ bytes are in use beside the books, the structures say`, err)
}

// Goal: a run ends at its first violation, with one line that names the structure, what is wrong,
// the seed and the round; the report says the same. Method: the command's own steps.
func TestARunEndsAtItsFirstViolation(t *testing.T) {
	s := soakOf(t, plainPart(plainShapes["fixed"], "loses a count"))
	s.least, s.command = 30, "soak"
	err := s.run(context.Background(), io.Discard)
	require.Error(t, err)
	require.Regexp(t, `^plain: window 0 buckets .* \(seed 5, round \d+\)$`, err.Error())
	var out bytes.Buffer
	require.NoError(t, s.report(&out, err))
	require.Contains(t, out.String(), "VIOLATED: "+err.Error()+"\n")
	require.Regexp(t, `(?m)^ *plain +\d+ +\d+ +\d+ +0 +\d+ +1 `, out.String())
}

// Goal: an interrupt ends a run early and quietly, with a report of what was done; nothing is
// asked of it that only a whole run can show.
func TestAnInterruptEndsARunWithItsReport(t *testing.T) {
	s := soakOf(t, plainPart(plainShapes["fixed"], "none"))
	s.length = time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	rounds := 0
	s.builder.loads = nil
	s.builder.parts = append(s.builder.parts, func(b *builder) error {
		b.add(&interrupting{desk: b.desk("interrupt"), after: &rounds, cancel: cancel})
		return nil
	})
	require.NoError(t, s.run(ctx, io.Discard))
	require.Equal(t, 4, s.rounds)
	var out bytes.Buffer
	require.NoError(t, s.report(&out, nil))
	require.Contains(t, out.String(), "4 rounds in 1 epochs")
	require.Contains(t, out.String(), ", interrupted\n")
	require.Contains(t, out.String(), "\nnothing violated\n")
}

// interrupting is a load that does nothing, and interrupts the run in its fourth round.
type interrupting struct {
	*desk
	noFill
	noLoad
	after  *int
	cancel context.CancelFunc
}

func (i *interrupting) begin(*round) error {
	if *i.after++; *i.after == 4 {
		i.cancel()
	}
	return nil
}

// Goal: a run that is long enough but has not seen everything says so.
func TestARunThatShowsNothingFails(t *testing.T) {
	s := soakOf(t, plainPart(plainShapes["fixed"], "none"))
	s.least = 2
	require.ErrorContains(t, s.run(context.Background(), io.Discard), "never happened")
}

// Goal: flags that mean nothing are refused by one line.
func TestWrongFlags(t *testing.T) {
	for line, says := range map[string]string{
		"-for 0s":       "-for is 0s, want more than 0",
		"-for -3s":      "-for is -3s, want more than 0",
		"-goroutines 1": "-goroutines is 1, want 2 to 1000",
		"-goroutines x": "invalid value",
		"10m":           `unknown argument "10m", want flags alone`,
		"-everything":   "flag provided but not defined",
	} {
		err := command(context.Background(), strings.Fields(line), io.Discard, io.Discard)
		if assert.Error(t, err, line) {
			assert.Contains(t, err.Error(), says, line)
		}
	}
	require.NoError(t, command(context.Background(), []string{"-h"}, io.Discard, io.Discard))
	s, err := parse([]string{"-for", "10m", "-seed", "7"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "go run ./stress/soak -for 10m -seed 7", s.command)
	require.EqualValues(t, 7, s.seed)
}
