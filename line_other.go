//go:build !linux

package tallyring

// adviseHuge does nothing where the system has no advice about huge pages.
func adviseHuge([]byte) {}
