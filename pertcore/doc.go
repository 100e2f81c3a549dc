// Package pertcore spreads one hot window over the processors: each P of the Go scheduler counts on
// cache lines of its own, so that goroutines on different processors do not wait for each other's
// lines.
//
//	Counter   counts only; a read merges the rings of all Ps
//	Limiter   decides against one limit, exactly
//
// Prefer them to package atomicring where one window is written by several processors at once, such
// as the limit of a whole service. For many keys, package table spreads the load by itself.
//
// A shard is one P's line. A P id beyond the shards made at construction is legal, since GOMAXPROCS
// can grow: Ps then share shards, which costs speed and nothing else.
package pertcore
