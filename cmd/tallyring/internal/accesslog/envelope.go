package accesslog

import "strings"

// readEnvelope reads the line that a log collector has wrapped into an object of its own: docker
// and Kubernetes name it "log", journald "MESSAGE", most others "message".
func (p *Parser) readEnvelope(f fields) (Record, error) {
	line := strings.TrimSpace(f.text("log", "message", "MESSAGE", "msg"))
	if line == "" {
		return Record{}, ErrNoRequest
	}
	rec, err := p.parse(line, false)
	if err == ErrUnknown {
		err = ErrNoRequest
	}
	return rec, err
}
