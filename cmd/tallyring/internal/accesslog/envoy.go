package accesslog

import (
	"strings"
	"time"
)

// readEnvoy reads the JSON access log of Envoy, whose members its users name after Envoy's
// operators. The client is the downstream address, which is Envoy's own opinion of who is behind
// trusted proxies.
func readEnvoy(f fields) (Record, error) {
	if !f.has("start_time") {
		return Record{}, errOther
	}
	client := f.text("downstream_remote_address", "downstream_direct_remote_address",
		"x-forwarded-for", "x_forwarded_for")
	path := f.text("x-envoy-origin-path", "x_envoy_origin_path", ":path", "path")
	if client == "" && path == "" {
		return Record{}, errOther
	}
	tick, err := f.tick("start_time")
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(client),
		Path:   cutQuery(path),
		Agent:  f.text("user-agent", "user_agent"),
	}, nil
}

// readEnvoyText reads Envoy's default text, which names the client only by X-Forwarded-For, and
// Common and Combined lines with such a time, which name it before the time:
//
//	[time] "request" status flags received sent duration upstream "forwarded-for" "agent" …
func readEnvoyText(_ *Parser, line string) (Record, error) {
	head, rest, ok := strings.Cut(line, `] "`)
	if !ok {
		return Record{}, errOther
	}
	before, stamp, ok := strings.Cut(head, "[")
	if !ok {
		return Record{}, errOther
	}
	tick, err := parseTick(time.RFC3339, stamp)
	if err != nil {
		return Record{}, errOther
	}
	request, rest, ok := cutRequest(`"` + rest)
	if !ok {
		return Record{}, ErrCut
	}
	client, named := firstAddress(before)
	if !named {
		client = quotedField(rest, 0)
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(client),
		Path:   pathOf(request),
		Agent:  quotedField(rest, 1),
	}, nil
}
