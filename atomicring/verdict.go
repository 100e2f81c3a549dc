package atomicring

// Verdict is the outcome of one attempt.
type Verdict uint8

const (
	// Again says that the ring changed under the attempt, or that it did some work for everyone:
	// load the head and try once more.
	Again Verdict = iota
	// Denied says that the limit does not admit the event. Nothing was written.
	Denied
	// Admitted says that the event was counted, or that its cost was 0 and the limit would admit
	// it.
	Admitted
)
