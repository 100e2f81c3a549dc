package accesslog

import (
	"strconv"
	"strings"
	"time"
)

// syslogYear is the year of a syslog line that no dated line precedes: a leap year, so that every
// date is one.
const syslogYear = 2000

// readSyslog reads a Common log line that has lost its own time, behind a syslog header:
//
//	Jan _2 15:04:05 host tag: client ident user "request" status …
func readSyslog(p *Parser, line string) (Record, error) {
	if len(line) <= len(time.Stamp) || line[3] != ' ' || line[len(time.Stamp)] != ' ' {
		return Record{}, errOther
	}
	year := syslogYear
	if p.last > 0 {
		year = time.Unix(0, int64(p.last)).UTC().Year()
	}
	stamp := strconv.Itoa(year) + " " + line[:len(time.Stamp)]
	t, err := time.Parse("2006 "+time.Stamp, stamp)
	if err != nil {
		return Record{}, errOther
	}
	_, message, _ := strings.Cut(line[len(time.Stamp):], ": ")
	head, rest, ok := strings.Cut(message, ` "`)
	words := strings.Fields(head)
	if !ok || len(words) != 3 {
		return Record{}, errOther
	}
	request, rest, ok := cutRequest(`"` + rest)
	if !ok {
		return Record{}, errOther
	}
	tick, err := tickOf(t)
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(words[0]),
		Path:   pathOf(request),
		Agent:  quotedField(rest, 1),
	}, nil
}
