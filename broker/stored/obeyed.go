package stored

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/obeyed"
)

// Obeyed lists the files in a workspace that programs of this machine would run or obey by
// themselves, and that are new or have changed since its session began.
type Obeyed struct {
	Found []Danger `json:"found,omitempty"`
	// Missed says why there may be more, or is "".
	Missed string `json:"missed,omitempty"`
}

// Danger is one entry of Obeyed.
type Danger = obeyed.Finding

// Lines describes o for a person, the most dangerous file first. It returns nothing if there is
// nothing to report.
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

// How long a look at a workspace may take. At the end of a session, a person waits for it.
const (
	LookTime    = 10 * time.Second
	EndLookTime = time.Second
)

// LookObeyed looks at a workspace for at most that long, and compares it with its state when the
// session began.
func LookObeyed(ctx context.Context, l Layout, workspace, userHome string, most time.Duration) (Obeyed, error) {
	before, err := obeyed.Kept(l.Obeyed())
	if errors.Is(err, fs.ErrNotExist) {
		before.Missed = "the state of the workspace when its session began is unknown"
	} else if err != nil {
		return Obeyed{}, err
	}
	now, err := obeyed.Take(ctx, workspace, userHome, most)
	return Obeyed{Found: now.Since(before.Look), Missed: now.Missed}, err
}

// ObeyedOf returns what the agent of a stored session has left in its workspace. It returns nothing
// if the workspace is gone, or if its state was not stored when the session began.
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
