package accesslog

// readTraefik reads the JSON access log of Traefik. Its "time" has whole seconds; "StartUTC" is
// when the request came.
func readTraefik(f fields) (Record, error) {
	if !f.has("ClientAddr") && !f.has("ClientHost") {
		return Record{}, errOther
	}
	tick, err := f.tick("StartUTC", "StartLocal", "time")
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(f.text("ClientHost", "ClientAddr")),
		Path:   cutQuery(f.text("RequestPath")),
		Agent:  f.text("request_User-Agent"),
	}, nil
}
