// Package crowd lets goroutines meet in short operations, round after round. It is what the
// concurrency tests of the stress module share.
//
//	member   one of the goroutines, numbered from 0
//	round    what each member does once, beginning together with the others as nearly as can be
//
// Rounds come in batches, since goroutines that are woken for one operation of ten nanoseconds
// would do it one after another: within a batch members keep their processors and spin until all
// have come. They spin for a bounded time, since on a busy machine a member may not get a processor
// while the others spin; a round is then begun without it, which costs an encounter and nothing
// else.
package crowd
