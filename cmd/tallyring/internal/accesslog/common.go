package accesslog

import "strings"

// readCommon reads the Common and the Combined log format,
//
//	client ident user [time] "request" status bytes "referer" "agent"
//
// with anything before the client and anything after the status.
func readCommon(p *Parser, line string) (Record, error) {
	head, stamp, rest, ok := cutStamp(line)
	if !ok || !strings.HasSuffix(head, " ") || !strings.HasPrefix(rest, ` "`) {
		return Record{}, errOther
	}
	words := strings.Fields(head)
	if len(words) == 0 {
		return Record{}, errOther
	}
	request, rest, ok := cutRequest(rest[1:])
	if !ok {
		return Record{}, ErrCut
	}
	tick, err := p.stamp.parse(stamp)
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: clientBefore(words),
		Path:   pathOf(request),
		Agent:  quotedField(rest, 1),
	}, nil
}
