// Command mutants shows that the tests can fail: it breaks the engine by one step at a time, and
// expects each time that a test of the broken package notices.
//
//	go run ./stress/mutants              every mutant
//	go run ./stress/mutants -quick       a short list for every day
//	go run ./stress/mutants -run sums -j 4
//
// A mutant is one entry of mutants.txt: a file, a text that occurs in it exactly once, the text
// that replaces it, and the packages whose tests must fail then. Each worker copies the tree to a
// folder of its own, puts one mutant at a time there, and runs the tests with -short. Before that,
// the same tests must pass on the tree as it is.
//
// A mutant that does not compile, or whose text is not there, is a fault of the list and not
// caught. One that makes its tests run out of time is caught only if its entry says that it hangs.
// The exit status is 1 unless every mutant is caught.
//
// # Words
//
//	mutant    one step of one function left out, or done wrong
//	site      a package, with build tags if it needs any, whose tests must notice
//	caught    a test has failed
//	survived  all tests have passed: one is missing, or the mutant behaves like the original
package main
