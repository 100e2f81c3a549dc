// Package contender puts everything that is measured behind three small interfaces, whose methods
// decide on many events per call: the loop stands inside, with direct calls, so that what is
// measured is the library and not the harness.
//
//	Single  one limit without keys
//	Keyed   one limit for many keys, given as text
//	Hashed  the same, for keys that are hashes already
//
// A contender that can be given the time is given it. One that reads a clock by itself says so in
// Info.Clock: its figures include that. Singles, Keyeds and Hasheds list them all: the engine, the
// peers (modules that anyone can fetch) and the baselines (designs whose modules cannot be had,
// written here in their simplest form).
package contender
