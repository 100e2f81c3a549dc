//go:build purego || tallyring_hold

package tallyring

// pinHolds tells that Pin only draws an id.
const pinHolds = false
