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
	logFlags
	plan replay.Plan
	top  int
}

// maxTop bounds -top: the table is for a person.
const maxTop = 1000

// parseFlags reads the command line of replay. Flags and files may be mixed; "--" ends the flags.
// The error is flag.ErrHelp where help was asked for and has been written to stdout.
func parseFlags(args []string, stdout io.Writer) (options, error) {
	opts := options{top: 10}
	set := opts.logFlags.newSet("replay")
	set.Func("top", "how `many` of the keys hit hardest to show, 0 to 1000 (default 10)",
		func(s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 || n > maxTop {
				return fmt.Errorf("want a whole number, 0 to %d", maxTop)
			}
			opts.top = n
			return nil
		})
	if err := opts.parse(set, args, replayUsage, stdout); err != nil {
		return options{}, err
	}
	opts.plan = replay.Plan{
		Limit: opts.limit, Window: opts.window, Resolutions: opts.resolutions,
	}
	if err := opts.plan.Validate(); err != nil {
		return options{}, usageError{err}
	}
	return opts, nil
}

// logFlags are the flags that replay and accuracy share.
type logFlags struct {
	limit       uint64
	window      time.Duration
	resolutions []replay.Resolution // the default ones, until parsed
	list        string              // of resolutions
	key         replay.KeyKind
	format      string
	html        string // name of the file; empty for none
	files       []string
}

// newSet returns a flag set with the shared flags, and sets their defaults.
func (f *logFlags) newSet(name string) *flag.FlagSet {
	f.limit, f.window, f.format = 10, time.Minute, "table"
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Func("limit", "the most `requests` of one key per window (default 10)",
		func(s string) error {
			n, err := strconv.ParseUint(s, 10, 64)
			if err != nil || n == tallyring.Unlimited {
				return fmt.Errorf("want a whole number, 1 to %d", tallyring.Unlimited-1)
			}
			f.limit = n
			return nil
		})
	set.Func("window", "the `time` over which requests are counted (default 1m)",
		func(s string) error {
			d, err := time.ParseDuration(s)
			if err != nil {
				return errors.New("want a duration such as 1m or 10s")
			}
			f.window = d
			return nil
		})
	set.StringVar(&f.list, "resolution", "", "widths of the buckets of sliding and strict "+
		"windows, a `list`: durations\nor parts of the window (default "+
		defaultResolutions[name]+")")
	set.Func("key", "count by `what`: client, path, agent, client+path or client+agent "+
		"(default client)",
		func(s string) (err error) {
			f.key, err = replay.ParseKeyKind(s)
			return err
		})
	set.Func("format", "table or json (default table)", func(s string) error {
		if s != "table" && s != "json" {
			return errors.New("want table or json")
		}
		f.format = s
		return nil
	})
	set.Func("html", "also write the report as a page to a `file`, which needs nothing beside it",
		func(s string) error {
			if s == "" || s == "-" {
				return errors.New("want the name of a file")
			}
			f.html = s
			return nil
		})
	return set
}

// defaultResolutions says what -resolution is if it is not given.
var defaultResolutions = map[string]string{
	"replay":   "1m,10s,1s, or 1/1,1/6,1/60\nof another window",
	"accuracy": "1/1,1/2,1/6,1/20,1/60 of the window",
}

// parse reads the command line into the flags of a set, and checks what one flag alone cannot tell.
func (f *logFlags) parse(set *flag.FlagSet, args []string, usage string, stdout io.Writer) error {
	if err := parseMixed(set, args, &f.files); err != nil {
		if err == flag.ErrHelp {
			io.WriteString(stdout, usage)
			set.SetOutput(stdout)
			set.PrintDefaults()
			return err
		}
		return usageError{err}
	}
	if err := f.finish(); err != nil {
		return usageError{err}
	}
	return nil
}

// parseMixed parses flags wherever they stand among the files.
func parseMixed(set *flag.FlagSet, args []string, files *[]string) error {
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			if strings.HasPrefix(err.Error(), "flag provided") {
				return fmt.Errorf("%w, see tallyring %s -h", err, set.Name())
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

// finish checks what one flag alone cannot tell. A window that is none is left to the plan.
func (f *logFlags) finish() error {
	stdins := 0
	for _, name := range f.files {
		if name == "-" {
			stdins++
		}
	}
	if stdins > 1 {
		return errors.New(`"-" is there twice, want standard input once`)
	}
	f.resolutions = replay.DefaultResolutions
	if f.list == "" || f.window <= 0 {
		return nil
	}
	var err error
	f.resolutions, err = replay.ParseResolutions(f.list, f.window)
	return err
}
