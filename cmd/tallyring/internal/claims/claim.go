package claims

import "strconv"

// Verdict says what became of a claim.
type Verdict string

// The verdicts.
const (
	Reproduced   Verdict = "reproduced"
	Conditional  Verdict = "reproduced under a condition"
	Contradicted Verdict = "not reproduced"
	Unknowable   Verdict = "not reproducible"
)

// The documents.
const (
	deepDive  = "Sliding-window counters"
	limiters  = "Window counting limiters"
	bothPages = "both documents"
)

// Claim is a claim and what became of it.
type Claim struct {
	Text    string // what is claimed
	From    string // the document
	Run     string // what was run
	Figure  string // what came out
	Verdict Verdict
	Because string // the condition, or why
}

// All runs all claims, in an order to be read in.
func All() ([]Claim, error) {
	var all []Claim
	for _, run := range []func() (Claim, error){
		boundaryBurst, bothSides, weightedExample, codeExamples, fixedDoubles, oldestBucket,
		smoothTraffic, fewEventsOff, inAggregate, retryAtBoundary, exactLogMemory, twoBucketMemory,
		exponential, nanoseconds,
	} {
		c, err := run()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// grouped writes a number of 0 or more with its digits in threes.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
