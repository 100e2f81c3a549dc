package report

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/claims"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
)

// Accuracy is the findings of the accuracy laboratory, and about which input.
type Accuracy struct {
	Source   string // the name of the file, or which mix
	Key      string // what the requests were counted by
	First    time.Time
	Last     time.Time
	Plan     lab.Plan
	Findings lab.Findings
	Claims   []claims.Claim // none if they were not asked for
}

// The form of the JSON object. Shares are 0 to 1; what has nothing to be a share of is left out.
type (
	accuracyObject struct {
		Source      string        `json:"source"`
		Key         string        `json:"key"`
		First       string        `json:"first"`
		Last        string        `json:"last"`
		Limit       uint64        `json:"limit"`
		Window      string        `json:"window"`
		Requests    int           `json:"requests"`
		Over        int           `json:"over"`
		Denied      int           `json:"denied"`
		Sources     int           `json:"sources"`
		SourcesOver int           `json:"sources_over"`
		Schemes     []kindObject  `json:"schemes"`
		Claims      []claimObject `json:"claims,omitempty"`
	}
	kindObject struct {
		Name        string       `json:"name"`
		Slots       int          `json:"slots"`
		Resolution  string       `json:"resolution,omitempty"`
		Epsilon     float64      `json:"epsilon,omitempty"`
		BytesPerKey figure       `json:"bytes_per_key"`
		Open        *openObject  `json:"open,omitempty"`
		Closed      closedObject `json:"closed"`
	}
	errorsObject struct {
		WrongAllow           int     `json:"wrong_allow"`
		WrongDeny            int     `json:"wrong_deny"`
		WrongAllowPerRequest figure  `json:"wrong_allow_per_request"`
		WrongDenyPerRequest  figure  `json:"wrong_deny_per_request"`
		WrongAllowPerOver    *figure `json:"wrong_allow_per_over,omitempty"`
		WrongDenyPerOver     *figure `json:"wrong_deny_per_over,omitempty"`
		SourcesMissed        int     `json:"sources_missed"`
		SourcesAccused       int     `json:"sources_accused"`
	}
	openObject struct {
		errorsObject
		MeanDifference     figure  `json:"mean_difference"`
		MeanDifferenceOver *figure `json:"mean_difference_over,omitempty"`
		LargestAbove       figure  `json:"largest_above"`
		LargestBelow       figure  `json:"largest_below"`
	}
	closedObject struct {
		Denied int `json:"denied"`
		errorsObject
		WorstTrailing int `json:"worst_trailing"`
	}
	claimObject struct {
		Claim   string `json:"claim"`
		From    string `json:"from"`
		Run     string `json:"run"`
		Figure  string `json:"figure"`
		Verdict string `json:"verdict"`
		Because string `json:"because"`
	}
)

// figure is a number of which six digits are written: more may differ between machines.
type figure float64

// MarshalJSON writes the shortest form of the six digits.
func (f figure) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(f), 'g', 6, 64), nil
}

// JSON writes the findings as one object on one line.
func (a *Accuracy) JSON(w io.Writer) error {
	f := &a.Findings
	out := accuracyObject{
		Source: a.Source, Key: a.Key,
		First:  a.First.UTC().Format(time.RFC3339Nano),
		Last:   a.Last.UTC().Format(time.RFC3339Nano),
		Limit:  a.Plan.Limit,
		Window: a.Plan.Window.String(), Requests: f.Requests, Over: f.Over, Denied: f.Denied,
		Sources: f.Sources, SourcesOver: f.SourcesOver,
	}
	for _, o := range f.Outcomes {
		k := kindObject{
			Name: o.Name, Slots: o.Slots(), Epsilon: o.Epsilon,
			BytesPerKey: figure(o.BytesPerKey),
			Closed: closedObject{
				o.Closed.Denied, errorsOf(o.Closed.Errors, f.Requests, f.Denied),
				o.Closed.WorstTrailing,
			},
		}
		if o.Resolution > 0 {
			k.Resolution = o.Resolution.In(a.Plan.Window)
		}
		if o.HasOpen {
			k.Open = &openObject{
				errorsOf(o.Open.Errors, f.Requests, f.Over), figure(o.Open.MeanDifference), nil,
				figure(o.Open.LargestAbove), figure(o.Open.LargestBelow),
			}
			if f.Over > 0 {
				k.Open.MeanDifferenceOver = (*figure)(&o.Open.MeanOver)
			}
		}
		out.Schemes = append(out.Schemes, k)
	}
	for _, c := range a.Claims {
		out.Claims = append(out.Claims, claimObject{
			c.Text, c.From, c.Run, c.Figure, string(c.Verdict), c.Because,
		})
	}
	return json.NewEncoder(w).Encode(out)
}

func errorsOf(e lab.Errors, requests, over int) errorsObject {
	out := errorsObject{
		WrongAllow: e.WrongAllow, WrongDeny: e.WrongDeny,
		WrongAllowPerRequest: figure(float64(e.WrongAllow) / float64(requests)),
		WrongDenyPerRequest:  figure(float64(e.WrongDeny) / float64(requests)),
		SourcesMissed:        e.Missed, SourcesAccused: e.Accused,
	}
	if over > 0 {
		allow := figure(float64(e.WrongAllow) / float64(over))
		deny := figure(float64(e.WrongDeny) / float64(over))
		out.WrongAllowPerOver, out.WrongDenyPerOver = &allow, &deny
	}
	return out
}
