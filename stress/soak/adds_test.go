package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Goal: an add that is lost, moved or dropped for no reason is seen. Method: as for windows.
func TestFaultsOfCountersAreSeen(t *testing.T) {
	part := func(fault string) func(*builder) error {
		return func(b *builder) error {
			s := plainShapes["strict"]
			b.add(newAddLoad(b.desk("plain"), s, noMemory, newPlainWindow(s, fault)))
			return nil
		}
	}
	require.NoError(t, soakOf(t, part("none")).survive(rightRounds))
	for fault, says := range map[string]string{
		"loses an add":            `buckets .* hold`,
		"counts late adds as new": `buckets .* hold`,
		"drops what is late":      `drops an event`,
		"reads too much":          `counts \d+ when bucket`,
		"estimates nothing":       `reads`,
	} {
		err := soakOf(t, part(fault)).survive(faultRounds)
		if assert.Error(t, err, "a counter that %s", fault) {
			assert.Regexp(t, `^plain: .*`+says, err.Error(), fault)
		}
	}
}
