// Package table keeps one ring of buckets per key, one cache miss away: an open-addressing table of
// cells in pointer-free memory, lock-free, bounded, and known in size at construction. Keys are
// 64-bit hashes; package limiter makes them from strings and addresses with a seed of its own.
//
// # Cells
//
// A window of one or two slots takes a packed cell, {fingerprint, state}: 16 bytes, four to a cache
// line. Any other window takes a tagged cell, {fingerprint, head, older buckets}: one line for up
// to seven slots, adjacent lines beyond. The fingerprint is the key; the state is the word, or the
// head word, of package atomicring, with its topmost bit as the mark of a pending cell.
//
// A key's home is a group: a line of four packed cells, or one tagged cell. It lies in its home
// group or in one of the groups that follow, within a bound. A byte per home remembers how far any
// key of it was ever placed, so that a key that is not there is known to be absent after few lines.
//
// # Who may change what
//
// A settled state is changed by compare-and-swap of that word alone: load the state, then the
// fingerprint, then swap. A cell changes hands only by the double-word compare-and-swap of
// tallyring.Pair, and only when its time has passed: then the bucket index in its state moves
// forward, so a state that its old key has read never comes back.
//
//	If the hit's swap comes first, the takeover fails, since it expects the old state.
//	If the takeover comes first, the hit fails, since the index has moved on.
//
// # Insertion
//
// Two goroutines that insert one key may find different free cells. Neither cell counts before both
// agree on one:
//
//  1. Scan the probe range. A settled cell of the key is a hit.
//  2. Otherwise claim the first reusable cell (never used, dead, or expired): swap in the key with
//     a pending state, which carries the later of both bucket indexes and a ticket that the cell
//     has not carried under this index before.
//  3. Scan again. Whoever meets a pending cell of his key resolves it, be it his or not: the first
//     in probe order survives, any other is killed, and all of them where the key has a settled
//     cell. The survivor is settled with count 0, by a swap on exactly the pending state that was
//     seen.
//
// A killed cell becomes dead and keeps its pending state, so that no later claim repeats it.
//
//	Two pending cells of one key, claimed at a and at b > a, are never both settled: who settles
//	the later one has scanned everything after he saw it pending, so after b, and so has seen
//	the earlier one: pending, and then he killed it or gave way, or settled, and then he killed
//	the later one. Had it been killed before, then it can not be settled any more, since no
//	pending state repeats.
//
// A goroutine that stops after its claim leaves a pending cell, which the next one with the same
// key resolves, and which expires like any other. Where the machine has no double-word
// compare-and-swap (tallyring.PairLockFree is false), a goroutine that stops inside of the stand-in
// makes others wait that insert over the same cell; hits never wait.
//
// A key that lost its cell may come back by a tick that is late: read before the one at which its
// time had passed. So that it finds no second budget, the table remembers the first bucket in which
// no key that lost its cell still counted, and a key that is inserted begins there at the earliest.
// So ticks that run ahead of the clock hold more than their own keys: when a cell that was counted
// in far ahead is taken over from farther ahead, every new key is held until time catches up.
//
// # When no cell is free
//
// A key that still counts something is never evicted. An event of a key that finds no cell follows
// the policy: Deny it, Allow it uncounted, or let it share one Overflow ring with all other such
// keys.
//
// # Collisions
//
// Two keys disturb each other only if all 64 bits of their hashes are equal: for n keys the chance
// that any two are is about n*n/2^65, 2.7e-6 for ten million. (Two keys of the 2^64 stand for two
// that the table reserves, and so count as equal to them.)
package table
