package accesslog

import (
	"strings"
	"time"
)

// readUWSGI reads the request log of uWSGI:
//
//	[pid: n|app: n|req: n/n] client (user) {n vars in n bytes} [time] method path => generated …
func readUWSGI(_ *Parser, line string) (Record, error) {
	if !strings.HasPrefix(line, "[pid: ") {
		return Record{}, errOther
	}
	_, rest, _ := strings.Cut(line, "] ")
	client, rest, ok := strings.Cut(rest, " ")
	if !ok {
		return Record{}, ErrCut
	}
	_, rest, ok = strings.Cut(rest, "} [")
	if !ok {
		return Record{}, ErrCut
	}
	stamp, rest, ok := strings.Cut(rest, "] ")
	if !ok {
		return Record{}, ErrCut
	}
	request, _, ok := strings.Cut(rest, " => ")
	if !ok {
		return Record{}, ErrCut
	}
	tick, err := parseTick(time.ANSIC, stamp)
	if err != nil {
		return Record{}, err
	}
	return Record{Tick: tick, Client: cleanClient(client), Path: pathOf(request)}, nil
}
