package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

const replayUsage = `tallyring replay [flags] [FILE...]

Replays access logs through every scheme of counting, and says what each would have done beside the
exact log. Files are plain or gzip; "-" is standard input; without a FILE a built-in sample is
replayed. Read are Common and Combined logs, JSON logs of Caddy, Traefik, Envoy, nginx and
Cloudflare, and those of HAProxy, AWS load balancers and CloudFront, IIS and other W3C logs, uWSGI,
Nginx Proxy Manager and Zoraxy, told apart line by line.

`

// options are the flags of replay.
type options struct {
	plan   replay.Plan
	key    replay.KeyKind
	format string
	top    int
	files  []string
}

// maxTop bounds -top: the table is for a person.
const maxTop = 1000

// parseFlags reads the command line of replay. Flags and files may be mixed; "--" ends the flags.
// The error is flag.ErrHelp where help was asked for and has been written to stdout.
func parseFlags(args []string, stdout io.Writer) (options, error) {
	opts := options{format: "table", top: 10}
	opts.plan = replay.Plan{Limit: 10, Window: time.Minute}
	resolutions := ""
	set := flag.NewFlagSet("replay", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Func("limit", "the most `requests` of one key per window (default 10)",
		func(s string) error {
			n, err := strconv.ParseUint(s, 10, 64)
			if err != nil || n == tallyring.Unlimited {
				return fmt.Errorf("want a whole number, 1 to %d", tallyring.Unlimited-1)
			}
			opts.plan.Limit = n
			return nil
		})
	set.Func("window", "the `time` over which requests are counted (default 1m)",
		func(s string) error {
			d, err := time.ParseDuration(s)
			if err != nil {
				return errors.New("want a duration such as 1m or 10s")
			}
			opts.plan.Window = d
			return nil
		})
	set.StringVar(&resolutions, "resolution", "", "widths of the buckets of sliding and strict "+
		"windows, a `list`: durations\nor parts of the window (default 1m,10s,1s, or 1/1,1/6,1/60 "+
		"of another window)")
	set.Func("key", "count by `what`: client, path, agent, client+path or client+agent "+
		"(default client)",
		func(s string) (err error) {
			opts.key, err = replay.ParseKeyKind(s)
			return err
		})
	set.Func("format", "table or json (default table)", func(s string) error {
		if s != "table" && s != "json" {
			return errors.New("want table or json")
		}
		opts.format = s
		return nil
	})
	set.Func("top", "how `many` of the keys hit hardest to show, 0 to 1000 (default 10)",
		func(s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 || n > maxTop {
				return fmt.Errorf("want a whole number, 0 to %d", maxTop)
			}
			opts.top = n
			return nil
		})
	if err := parseMixed(set, args, &opts.files); err != nil {
		if err == flag.ErrHelp {
			io.WriteString(stdout, replayUsage)
			set.SetOutput(stdout)
			set.PrintDefaults()
			return options{}, err
		}
		return options{}, usageError{err}
	}
	if err := opts.finish(resolutions); err != nil {
		return options{}, usageError{err}
	}
	return opts, nil
}

// parseMixed parses flags wherever they stand among the files.
func parseMixed(set *flag.FlagSet, args []string, files *[]string) error {
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			if strings.HasPrefix(err.Error(), "flag provided") {
				return fmt.Errorf("%w, see tallyring replay -h", err)
			}
			return err
		}
		rest := set.Args()
		if used := len(args) - len(rest); used > 0 && args[used-1] == "--" {
			*files = append(*files, rest...)
			return nil
		}
		if len(rest) == 0 {
			return nil
		}
		*files = append(*files, rest[0])
		args = rest[1:]
	}
	return nil
}

// finish checks what one flag alone cannot tell.
func (o *options) finish(resolutions string) error {
	stdins := 0
	for _, name := range o.files {
		if name == "-" {
			stdins++
		}
	}
	if stdins > 1 {
		return errors.New(`"-" is there twice, want standard input once`)
	}
	if o.plan.Window <= 0 {
		return o.plan.Validate()
	}
	o.plan.Resolutions = replay.DefaultResolutions
	if resolutions != "" {
		var err error
		o.plan.Resolutions, err = replay.ParseResolutions(resolutions, o.plan.Window)
		if err != nil {
			return err
		}
	}
	return o.plan.Validate()
}
