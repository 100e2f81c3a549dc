//go:build !purego

// This file is empty: its presence lets pin.go declare functions without a body.
