//go:build !purego && !tallyring_hold

package tallyring

// pinHolds tells that Pin keeps the goroutine where it is.
const pinHolds = true
