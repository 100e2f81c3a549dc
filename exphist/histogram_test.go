package exphist

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func mustNew(t testing.TB, length time.Duration, eps float64, most uint64, o ...Option) *Histogram {
	t.Helper()
	h, err := New(length, eps, most, o...)
	require.NoError(t, err)
	return h
}
