package accesslog

// readCloudflare reads the HTTP request log of Cloudflare, whose times are nanoseconds, seconds or
// text, as the customer chose.
func readCloudflare(f fields) (Record, error) {
	if !f.has("ClientIP") {
		return Record{}, errOther
	}
	tick, err := f.tick("EdgeStartTimestamp", "EdgeEndTimestamp")
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(f.text("ClientIP")),
		Path:   cutQuery(f.text("ClientRequestPath", "ClientRequestURI")),
		Agent:  f.text("ClientRequestUserAgent"),
	}, nil
}
