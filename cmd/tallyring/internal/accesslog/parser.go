// Package accesslog reads the lines of web access logs: who asked, for what, and when.
//
// The format of a line is found by looking at the line, so one file may mix formats, and every
// reader is one file of this package:
//
//	common.go      Common and Combined, also behind a virtual host, syslog or container prefix
//	caddy.go, traefik.go, envoy.go, nginx.go, cloudflare.go    JSON objects, see json.go
//	envelope.go    JSON of a log collector around a line of any other format
//	envoy.go       Envoy's default text
//	haproxy.go     HAProxy's HTTP log
//	npm.go         Nginx Proxy Manager and NPMplus
//	alb.go         AWS application load balancers
//	cloudfront.go  AWS CloudFront without its header
//	w3c.go         W3C Extended, by its #Fields directive
//	uwsgi.go       uWSGI
//	zoraxy.go      Zoraxy
//	syslog.go      Common without a time of its own, behind a syslog header
//	custom.go      anything else with a bracketed time, an address and a protocol
//
// # What counts as a request
//
// A line is a request if it says when something was asked of a server. A malformed request (an
// empty one, "-", the bytes of a TLS handshake) is a request all the same: a rate limit would have
// had to decide about it. Error logs, start-up messages, refused handshakes and directives are not
// requests; [Parser.Parse] returns the reason for each.
//
// # Who is the client
//
// The client is the address or host name that the log itself names as the client, as it is
// written, without port, brackets or quotes. Where that field holds a list of forwarded addresses
// it is the first of them; where it holds nothing it is [NoClient].
//
// # When
//
// Ticks are Unix nanoseconds, exact to the last digit that the log gives. A time without a zone is
// taken as UTC, and a time without a year (syslog) is put into the year of the line before it, or
// into 2000 where there is none: differences between the lines of one file are right either way.
package accesslog

import (
	"errors"
	"strings"

	"github.com/tallyring/tallyring"
)

// NoClient is the client of a request whose log line does not name one.
const NoClient = "-"

// Record is one request.
type Record struct {
	Tick   tallyring.Tick // Unix nanoseconds, never negative
	Client string         // never empty
	Path   string         // the target without its query; a malformed request as it is written
	Agent  string         // the user agent, empty where the log has none
}

// The reasons for which a line is no request.
var (
	ErrUnknown   = errors.New("not a line of a known access log")
	ErrDirective = errors.New("a directive of a W3C log, not a request")
	ErrNoRequest = errors.New("a log record that is not a request")
	ErrCut       = errors.New("a request that is cut short")
	ErrTime      = errors.New("a request whose time is not one between 1970 and 2261")
)

// errOther tells that a line is not of the reader's format, so that the next one is asked.
var errOther = errors.New("another format")

// Parser reads the lines of one file, in their order: the directives of a W3C log and the year of
// syslog lines carry over from line to line. The zero value is ready. A Parser is not safe for
// concurrent use.
type Parser struct {
	w3c   w3cLayout
	stamp stampCache
	last  tallyring.Tick // of the last request, 0 where there is none
}

// textReaders are asked in this order; what a file's own header declares comes before what only
// looks alike, and the least certain format comes last.
var textReaders = []func(*Parser, string) (Record, error){
	readCommon, readHAProxy, readNPM, readEnvoyText, readALB, readUWSGI, readZoraxy,
	readW3C, readCloudFront, readSyslog, readCustom,
}

// Parse returns the request of a line, or the reason why there is none: one of the Err variables.
// The strings of the record may share memory with line.
func (p *Parser) Parse(line string) (Record, error) {
	return p.parse(strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")), true)
}

// parse is Parse of a trimmed line. A line inside an envelope is not opened as one again.
func (p *Parser) parse(line string, envelopes bool) (Record, error) {
	rec, err := p.read(line, envelopes)
	if err != nil {
		return Record{}, err
	}
	if rec.Client == "" {
		rec.Client = NoClient
	}
	p.last = rec.Tick
	return rec, nil
}

func (p *Parser) read(line string, envelopes bool) (Record, error) {
	if p.w3c.directive(line) {
		return Record{}, ErrDirective
	}
	if object, ok := cutObject(line); ok {
		if rec, err := p.readJSON(object, envelopes); err != errOther {
			return rec, err
		}
	}
	for _, read := range textReaders {
		if rec, err := read(p, line); err != errOther {
			return rec, err
		}
	}
	return Record{}, ErrUnknown
}
