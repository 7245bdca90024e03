package stored

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/obeyed"
)

// Obeyed lists what programs of this machine would run or obey by themselves in a workspace
// and would not have when its session began.
type Obeyed struct {
	Found []Danger `json:"found,omitempty"`
	// Missed says why there may be more; empty when everything was looked at.
	Missed string `json:"missed,omitempty"`
}

// Danger is one entry of Obeyed.
type Danger = obeyed.Finding

// Lines describes it for a person, the most dangerous first. It returns nothing when there
// is nothing to report.
func (o Obeyed) Lines() []string {
	var out []string
	for _, f := range o.Found {
		out = append(out, f.String())
	}
	if o.Missed != "" {
		out = append(out, "not everything was looked at: "+o.Missed)
	}
	return out
}

// How long a workspace is looked at. Who has told a session to end waits for the look.
const (
	LookTime    = 10 * time.Second
	EndLookTime = time.Second
)

// LookObeyed looks at a workspace for at most that long and compares with how it was when
// its session began.
func LookObeyed(ctx context.Context, l Layout, workspace, userHome string, most time.Duration) (Obeyed, error) {
	before, err := obeyed.Kept(l.Obeyed())
	if errors.Is(err, fs.ErrNotExist) {
		before.Missed = "how the workspace was at first is not known"
	} else if err != nil {
		return Obeyed{}, err
	}
	now, err := obeyed.Take(ctx, workspace, userHome, most)
	return Obeyed{Found: now.Since(before.Look), Missed: now.Missed}, err
}

// ObeyedOf is what the agent of a stored session has left in its workspace; nothing
// where the workspace is gone or the session has none of ours.
func ObeyedOf(ctx context.Context, home, userHome string, s Entry) (Obeyed, error) {
	l := LayoutOf(home, s.ID)
	if _, err := os.Lstat(l.Obeyed()); errors.Is(err, fs.ErrNotExist) {
		return Obeyed{}, nil
	}
	o, err := LookObeyed(ctx, l, s.Workspace, userHome, LookTime)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return o, err
}
