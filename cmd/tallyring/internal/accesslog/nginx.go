package accesslog

import "github.com/tallyring/tallyring"

// readNginx reads the JSON access log of nginx. Its users name the members, most often after
// nginx's variables or after the fields of the Elastic stack; these names are known here. A record
// must have a client and a time to be taken as a request.
func readNginx(f fields) (Record, error) {
	client := f.text("remote_addr", "client_ip", "clientip", "client", "remote_ip", "client_addr",
		"remote_host", "realip_remote_addr", "http_x_forwarded_for", "x_forwarded_for")
	if client == "" {
		return Record{}, errOther
	}
	tick, err := f.nginxTick()
	if err != nil {
		return Record{}, err
	}
	path := f.text("request_uri", "uri", "path", "url")
	if path == "" {
		path = pathOf(f.text("request"))
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(client),
		Path:   cutQuery(path),
		Agent:  f.text("http_user_agent", "user_agent", "agent"),
	}, nil
}

// nginxTick prefers the names that give the most digits.
func (f fields) nginxTick() (tallyring.Tick, error) {
	return f.tick("msec", "time_iso8601", "@timestamp", "timestamp", "time_local", "time", "ts",
		"date")
}
