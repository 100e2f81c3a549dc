package claims

func nanoseconds() (Claim, error) {
	return Claim{
		Text: "allow() takes about 2 ns with n = 2 or 8, and 5 ns with n = 60, on an Apple M4 Pro",
		From: deepDive, Run: "nothing: time is not what this laboratory measures",
		Figure: "none", Verdict: Unknowable,
		Because: "a figure of one processor, and of a ring that is not shared; `go run ./bench` " +
			"measures the engine on the machine it runs on, beside the bare memory operations",
	}, nil
}
