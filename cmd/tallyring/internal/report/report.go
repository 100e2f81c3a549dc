// Package report writes what a replay found, and what the accuracy laboratory did: as a table for a
// terminal, as JSON for a program, and as a page of HTML.
//
// The keys of a log are text that strangers have chosen. [Escape] makes it safe to show on a
// terminal and on a page; JSON carries it as it is, in JSON's own escapes.
package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// Report is what is written: the findings of a replay, and about which input.
type Report struct {
	Source  string // the name of the file, or what it was
	Key     string // what the requests were counted by
	Lines   int    // that are not empty; the sum of Parsed and Skipped
	Parsed  int
	Skipped int
	Keys    int
	First   time.Time
	Last    time.Time
	Plan    replay.Plan
	Result  replay.Result
	View    replay.View // what Page needs beside the rest
}

// The form of the JSON object. The names up to schemes are a promise; more may be added.
type (
	object struct {
		Lines      int      `json:"lines"`
		Parsed     int      `json:"parsed"`
		Skipped    int      `json:"skipped"`
		Keys       int      `json:"keys"`
		Limit      uint64   `json:"limit"`
		Window     string   `json:"window"`
		Schemes    []scheme `json:"schemes"`
		Source     string   `json:"source"`
		Key        string   `json:"key"`
		First      string   `json:"first"`
		Last       string   `json:"last"`
		KeysDenied int      `json:"keys_denied"`
		Hardest    []key    `json:"hardest"`
	}
	scheme struct {
		Name          string `json:"name"`
		Slots         int    `json:"slots"`
		Denied        int    `json:"denied"`
		WrongAllow    int    `json:"wrong_allow"`
		WrongDeny     int    `json:"wrong_deny"`
		WorstTrailing int    `json:"worst_trailing"`
		Resolution    string `json:"resolution,omitempty"`
	}
	key struct {
		Key          string `json:"key"`
		Requests     int    `json:"requests"`
		Denied       int    `json:"denied"`
		PeakTrailing int    `json:"peak_trailing"`
	}
)

// JSON writes the report as one object on one line.
func (r *Report) JSON(w io.Writer) error {
	out := object{
		Lines:      r.Lines,
		Parsed:     r.Parsed,
		Skipped:    r.Skipped,
		Keys:       r.Keys,
		Limit:      r.Plan.Limit,
		Window:     r.Plan.Window.String(),
		Source:     r.Source,
		Key:        r.Key,
		First:      r.First.UTC().Format(time.RFC3339Nano),
		Last:       r.Last.UTC().Format(time.RFC3339Nano),
		KeysDenied: r.Result.KeysDenied,
		Hardest:    []key{},
	}
	for _, o := range r.Result.Outcomes {
		s := scheme{o.Name, o.Slots(), o.Denied, o.WrongAllow, o.WrongDeny, o.WorstTrailing, ""}
		if o.Resolution > 0 {
			s.Resolution = o.Resolution.In(r.Plan.Window)
		}
		out.Schemes = append(out.Schemes, s)
	}
	for _, k := range r.Result.Keys {
		out.Hardest = append(out.Hardest, key{k.Key, k.Requests, k.Denied, k.Peak})
	}
	return json.NewEncoder(w).Encode(out)
}
