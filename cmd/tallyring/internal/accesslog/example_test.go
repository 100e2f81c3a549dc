package accesslog_test

import (
	"fmt"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/accesslog"
)

// One parser reads one file, whose lines may be of any known format.
func ExampleParser_Parse() {
	var p accesslog.Parser
	for _, line := range []string{
		`192.0.2.7 - - [04/Mar/2026:10:36:07 +0530] "GET /news?page=2 HTTP/1.1" 200 512`,
		`{"remote_addr":"2001:db8::7","msec":"1772600767.250","request_uri":"/shop"}`,
		`2026/03/04 05:06:07 [notice] 1#1: start worker process 29`,
	} {
		rec, err := p.Parse(line)
		if err != nil {
			fmt.Println("skipped:", err)
			continue
		}
		fmt.Println(rec.Tick, rec.Client, rec.Path)
	}
	// Output:
	// 1772600767000000000 192.0.2.7 /news
	// 1772600767250000000 2001:db8::7 /shop
	// skipped: not a line of a known access log
}
