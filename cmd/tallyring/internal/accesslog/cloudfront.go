package accesslog

import "strings"

// cloudFrontFields is the least number of fields in any version of CloudFront's standard log.
const cloudFrontFields = 12

// readCloudFront reads the standard log of AWS CloudFront where its header has been lost:
//
//	date time edge bytes client method host path status referer agent query …
//
// separated by tabs. With its header it is a W3C log.
func readCloudFront(_ *Parser, line string) (Record, error) {
	if strings.Count(line, "\t") < cloudFrontFields-1 {
		return Record{}, errOther
	}
	f := strings.SplitN(line, "\t", cloudFrontFields)
	tick, err := parseTick(datePlain, f[0]+" "+f[1])
	if err != nil {
		return Record{}, errOther
	}
	return Record{Tick: tick, Client: cleanClient(f[4]), Path: f[7], Agent: f[10]}, nil
}
