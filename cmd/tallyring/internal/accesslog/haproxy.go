package accesslog

import "strings"

// readHAProxy reads the HTTP log of HAProxy, behind a syslog header or not:
//
//	client:port [time] frontend backend/server timers status … "request"
//
// Its time has a fraction and no zone. A connection that carried no request is none.
func readHAProxy(p *Parser, line string) (Record, error) {
	head, stamp, rest, ok := cutStamp(line)
	if !ok || strings.IndexByte(stamp, ' ') >= 0 || !strings.HasSuffix(head, " ") {
		return Record{}, errOther
	}
	words := strings.Fields(head)
	if len(words) == 0 || strings.IndexByte(words[len(words)-1], ':') < 0 {
		return Record{}, errOther
	}
	open := strings.IndexByte(rest, '"')
	if open < 0 {
		return Record{}, ErrNoRequest
	}
	request := strings.TrimSuffix(rest[open+1:], `"`)
	if len(request) == len(rest)-open-1 {
		return Record{}, ErrCut
	}
	tick, err := p.stamp.parse(stamp)
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: cutPort(words[len(words)-1]),
		Path:   pathOf(request),
	}, nil
}
