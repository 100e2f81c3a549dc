// Package floor holds what a decision cannot beat: the atomic operations that any counter needs,
// and the loads and stores that any table of counters needs, on memory laid out as the engine lays
// out its own. Figures of decisions are divided by those of the floor of the same run.
//
//	Add        one atomic add on an own line
//	CAS        one load and one compare-and-swap on an own line
//	Lines.CAS  the same on the line that a key's hash picks: addresses known in advance
//	Chain      one load whose address is the result of the load before: the latency of a miss
package floor
