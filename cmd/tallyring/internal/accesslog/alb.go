package accesslog

import (
	"strings"
	"time"
)

// readALB reads the log of an AWS application load balancer:
//
//	type time balancer client:port target:port … "request" "agent" …
func readALB(_ *Parser, line string) (Record, error) {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "http", "https", "h2", "grpcs", "ws", "wss":
	default:
		return Record{}, errOther
	}
	words := strings.SplitN(rest, " ", 4)
	if len(words) < 4 {
		return Record{}, errOther
	}
	tick, err := parseTick(time.RFC3339, words[0])
	if err != nil {
		return Record{}, errOther
	}
	open := strings.IndexByte(words[3], '"')
	if open < 0 || closingQuote(words[3][open+1:]) < 0 {
		return Record{}, ErrCut
	}
	return Record{
		Tick:   tick,
		Client: cutPort(words[2]),
		Path:   pathOf(quotedField(words[3], 0)),
		Agent:  quotedField(words[3], 1),
	}, nil
}
