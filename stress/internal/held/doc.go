// Package held stops goroutines of the engine between a load and the compare-and-swap that rests on
// it, and lets others pass.
package held
