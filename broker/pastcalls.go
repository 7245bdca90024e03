package broker

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Limits of reading past calls.
const (
	pastTime  = 3 * time.Second
	pastCalls = 20_000
)

// Scopes lists what an approval of a waiting call could be remembered for.
func (b *Broker) Scopes(ctx context.Context, id string) ([]Scope, error) {
	item, ok := b.approvals.Find(id)
	if !ok {
		return nil, fault.New("list what waits with 'ironcurtain-mux pending'", "scopes: no call %q waits", id)
	}
	if len(item.Offers) == 0 {
		return []Scope{}, nil
	}
	s, err := b.session(item.Session)
	if err != nil {
		return nil, err
	}
	_, engine := s.Audit()
	p := past{engine: engine, session: item.Session, server: item.Server, tool: item.Tool}
	for _, o := range item.Offers {
		p.scopes = append(p.scopes, Scope{Name: string(o.Scope), Text: o.Text})
	}
	p.offers = item.Offers
	ctx, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	if err := p.read(ctx, filepath.Join(b.config.Home, "sessions")); err != nil {
		return nil, fault.New("approve it for this once", "scopes: %w", err)
	}
	for i := range p.scopes {
		p.scopes[i].Past = p.looked
	}
	return p.scopes, nil
}

// past counts the calls in audit logs that scopes would have let through. It judges each
// call anew, as if it were made now.
type past struct {
	engine       *policy.Engine
	session      string
	server, tool string
	offers       []grant.Offer
	scopes       []Scope
	looked       int
}

var errEnough = errors.New("enough")

// read reads the logs of all sessions, the newest log first, until it has seen
// pastCalls calls or ctx ends.
func (p *past) read(ctx context.Context, dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*", "audit.jsonl"))
	if err != nil {
		return err
	}
	slices.SortFunc(logs, func(a, b string) int { return cmp.Compare(modified(b), modified(a)) })
	for _, path := range logs {
		err := audit.Read(path, func(l audit.Line) error { return p.count(ctx, l) })
		switch {
		case errors.Is(err, errEnough):
			return nil
		case errors.Is(err, fs.ErrNotExist): // the session was removed meanwhile
		case err != nil:
			return err
		}
	}
	return nil
}

func modified(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// count counts one line of a log if it is a call of the tool in question.
func (p *past) count(ctx context.Context, l audit.Line) error {
	if ctx.Err() != nil || p.looked >= pastCalls {
		return errEnough
	}
	if l.Plane != audit.PlaneTool || l.Server != p.server || l.Tool != p.tool || l.Decision == audit.Failed || len(l.Arguments) == 0 {
		return nil
	}
	p.looked++
	v := p.engine.EvaluateContext(ctx, policy.Call{Server: l.Server, Tool: l.Tool, Arguments: l.Arguments})
	c := grant.CallOf(p.session, l.Server, l.Tool, v)
	for i, o := range p.offers {
		if o.Matches(c) {
			p.scopes[i].Matched++
		}
	}
	return nil
}
