package accesslog

import "strings"

// readCaddy reads the access log of Caddy 2: an object with the time in "ts" and an object
// "request". Caddy writes its other messages, and a second record about a request that failed, to
// the same place: neither is a request of its own.
func readCaddy(f fields) (Record, error) {
	if !f.has("ts") || !f.has("level") {
		return Record{}, errOther
	}
	access := strings.HasPrefix(f.text("logger"), "http.log.access") ||
		f.text("msg") == "handled request"
	request := f.object("request")
	if !access || request == nil {
		return Record{}, ErrNoRequest
	}
	tick, err := f.tick("ts")
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(request.text("client_ip", "remote_ip", "remote_addr")),
		Path:   cutQuery(request.text("uri")),
		Agent:  request.object("headers").header("User-Agent"),
	}, nil
}
