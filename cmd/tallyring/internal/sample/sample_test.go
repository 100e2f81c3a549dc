package sample

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/accesslog"
)

// wantSum is the hash of the log. It changes only with the generator.
const wantSum = "4b544cdcd088aa83a0a8b1d8c4ce681c796ff93606a2f66d103713b61194ae97"

// Goal: the sample is the same to the last byte each time, on each machine. Method: made twice, and
// its hash.
func TestSampleIsAlwaysTheSame(t *testing.T) {
	first, err := io.ReadAll(Open())
	require.NoError(t, err)
	second, err := io.ReadAll(Open())
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, second))
	assert.Equal(t, wantSum, fmt.Sprintf("%x", sha256.Sum256(first)))
}

// Goal: the sample is what its documentation says. Method: every line is a request of that day, in
// order; Zipf's law and the day curve hold roughly; no address is a real one.
func TestSampleLooksLikeALog(t *testing.T) {
	text, err := io.ReadAll(Open())
	require.NoError(t, err)
	requests := make(map[string]int)
	hours := make(map[int]int)
	var parser accesslog.Parser
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	last := int64(0)
	for _, line := range lines {
		rec, err := parser.Parse(line)
		require.NoError(t, err, line)
		require.GreaterOrEqual(t, int64(rec.Tick), last)
		last = int64(rec.Tick)
		second := last/1e9 - day.Unix()
		require.GreaterOrEqual(t, second, int64(0))
		require.Less(t, second, int64(secondsADay))
		requests[rec.Client]++
		hours[int(second/3600)]++
		documentation := false
		for _, prefix := range []string{"192.0.2.", "198.51.100.", "203.0.113.", "2001:db8:"} {
			documentation = documentation || strings.HasPrefix(rec.Client, prefix)
		}
		require.True(t, documentation, rec.Client)
	}
	assert.Greater(t, len(lines), 10_000)
	assert.Greater(t, requests[address(0)], 5*requests[address(9)])
	assert.Greater(t, hours[20], 3*hours[6])
}
