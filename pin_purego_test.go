//go:build purego

package tallyring

// pinHolds tells that Pin only draws an id.
const pinHolds = false
