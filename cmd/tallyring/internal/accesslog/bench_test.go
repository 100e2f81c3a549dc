package accesslog

import "testing"

// BenchmarkParse tells what a line costs, in bytes per second. Times repeat within a log, so the
// benchmark repeats one.
func BenchmarkParse(b *testing.B) {
	for name, line := range map[string]string{
		"combined": `192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] "GET /shop/item?id=17 HTTP/1.1" ` +
			`200 5120 "https://www.example.org/" "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"`,
		"virtual host": `www.example.org 192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] ` +
			`"GET / HTTP/1.1" 200 5120 "-" "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"`,
		"Traefik": `{"ClientAddr":"192.0.2.1:39496","ClientHost":"192.0.2.1",` +
			`"DownstreamContentSize":357,"DownstreamStatus":200,` +
			`"RequestMethod":"GET","RequestPath":"/shop","RequestProtocol":"HTTP/1.1",` +
			`"ServiceURL":{"Scheme":"http","Host":"10.0.0.3:80"},"time":"2026-03-04T05:06:07Z",` +
			`"StartUTC":"2026-03-04T05:06:07.123456789Z","request_User-Agent":"curl/8"}`,
		"no request": `2026/03/04 05:06:07 [error] 31#31: *46 open() failed, client: 192.0.2.1`,
	} {
		b.Run("format="+name, func(b *testing.B) {
			var p Parser
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				p.Parse(line)
			}
		})
	}
}
