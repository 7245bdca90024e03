package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// staging is what a call needs that its running server does not have.
type staging struct {
	files *stage.Plan
	hosts []string // "host:port" of the git servers that it contacts
	login *login   // at the one that it contacts; nil: none
	key   string   // equal for calls that one process can carry out
}

// view returns what a process that carries out the call has to see.
func (n *staging) view(dir string) *sandbox.View {
	return &sandbox.View{Stage: dir, Copies: n.files.Directories(), Binds: n.files.Binds()}
}

// newStaging returns the staging with its key.
func newStaging(files *stage.Plan, hosts []string, l *login) *staging {
	n := &staging{files: files, hosts: hosts, login: l}
	n.key = fmt.Sprintf("%s %q", n.view("").Key(), n.hosts)
	if l != nil {
		n.key += fmt.Sprintf(" %s %v %v", l.call.Remote, l.call.Push, l)
	}
	return n
}

// plan finds out whether the call needs more than its running server has. An error says why the
// call cannot take effect on a stage either.
func (c *call) plan() error {
	c.staging, c.needs = nil, accesses(c.verdict)
	b := c.proxy.backend(c.target.server)
	if b == nil || b.stages == nil {
		return nil
	}
	hosts, err := b.unlisted(c.verdict)
	if err != nil || c.login == nil && len(hosts) == 0 && !slices.ContainsFunc(c.needs, b.outside) {
		return err
	}
	needs, err := b.staged(c.needs)
	if err != nil {
		return err
	}
	files, err := stage.New(needs)
	if err == nil {
		err = c.proxy.config.Sandbox.CheckView(files)
	}
	if err == nil && c.verdict.Enters != "" {
		err = errors.New("the server cannot work in a directory outside the workspace; name the directory in each call")
	}
	if err != nil {
		return err
	}
	c.staging = newStaging(files, hosts, c.login)
	return nil
}

// planWithLogin is plan after a search for the person's login at the remote that the call contacts.
func (c *call) planWithLogin(ctx context.Context) (err error) {
	if c.login == nil && c.loginNote == "" {
		if c.login, c.loginNote, err = c.findLogin(ctx); err != nil {
			return err
		}
	}
	return c.plan()
}

// unlisted returns the hosts that a call contacts and the running server cannot reach.
func (b *backend) unlisted(v policy.Verdict) ([]string, error) {
	if v.Contacts == "" {
		return nil, nil
	}
	remotes, err := remotesOf(v.Values)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, a := range remotes {
		port := strconv.Itoa(a.Port)
		if a.Scheme != "ssh" && b.spec.Sandbox.Network.Allows(a.Host, port) {
			continue
		}
		if a.Scheme == "git" {
			return nil, fmt.Errorf("git cannot reach %s by the git protocol from its sandbox", a.Host)
		}
		if err := servers.CheckDomain(net.JoinHostPort(a.Host, port)); err != nil {
			return nil, err
		}
		if host := net.JoinHostPort(a.Host, port); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts, nil
}

// staged returns what of the file system a call needs on a stage.
func (b *backend) staged(needs []stage.Access) ([]stage.Access, error) {
	if !b.spec.Staging.Whole {
		return needs, nil
	}
	var all []stage.Access
	for _, a := range needs {
		if dir := b.openedBy(a); dir != "" {
			a = stage.Access{Path: dir, Read: true, Write: true}
		} else if err := checkRepository(a); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// checkRepository returns why git could not work in a repository if it sees only the given
// directory.
func checkRepository(a stage.Access) error {
	if !a.Read {
		return nil // the call makes it
	}
	info, err := os.Lstat(filepath.Join(a.Path, ".git"))
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		return fmt.Errorf("the repository of %s is in another directory, and git sees only this one", a.Path)
	}
	if _, err := os.Lstat(filepath.Join(a.Path, "objects")); err == nil {
		return nil // a bare repository
	}
	return fmt.Errorf("%s is not the top directory of a repository, and git sees nothing above it", a.Path)
}

// openedBy returns the directory by which the running server can use a path, or "".
func (b *backend) openedBy(a stage.Access) string {
	for _, dir := range b.stages.open {
		if stage.Within(a.Path, dir) {
			return dir
		}
	}
	return ""
}

// outside reports whether the running server cannot use a path.
func (b *backend) outside(a stage.Access) bool { return b.openedBy(a) == "" }

// futileError is the error of a call that could not take effect; no person is asked about it.
type futileError struct{ error }

func (e *futileError) Unwrap() error { return e.error }

// refuseFutile refuses a call that could not take effect even if a person approved it, and tells
// the person, once for the same reason.
func (c *call) refuseFutile(ctx context.Context, why error) json.RawMessage {
	reason := why.Error()
	if next := fault.Hint(why); next != "" {
		reason += "; to change that: " + next
	}
	if last := c.proxy.lastFutile.Swap(&reason); last == nil || *last != reason {
		c.proxy.announce(Activity{Kind: CallFutile, Server: c.target.server, Tool: c.target.tool, Detail: reason})
	}
	return c.deny(ctx, ruleFutile, reason)
}

// futile returns why the call could not take effect even if a person approved it, or nil.
func (c *call) futile() error {
	if own := c.proxy.builtin(c.target); own != nil && own.Check != nil {
		return own.Check(c.verdict.Arguments)
	}
	if err := c.plan(); err != nil || c.staging != nil {
		return err
	}
	if b := c.proxy.backend(c.target.server); b != nil {
		for _, a := range c.needs {
			if err := c.proxy.config.Sandbox.Reaches(b.spec, a); err != nil {
				return c.proxy.widened(err)
			}
		}
	}
	return nil
}

// widened adds to a limit of a sandbox how the person can widen it.
func (p *Proxy) widened(err error) error {
	if p.config.Widen == "" {
		return err
	}
	return fmt.Errorf("%w, also after an approval; the person can open the directory: %s", err, p.config.Widen)
}

// forwardOnStage records that the call is let through and carries it out on a stage.
func (c *call) forwardOnStage(ctx context.Context, b *backend) json.RawMessage {
	ctx, cancel := context.WithTimeoutCause(ctx, c.proxy.limits.Call, b.late)
	defer cancel()
	c.ending.began = time.Now()
	at, err := b.stages.take(ctx, c.staging)
	if err != nil {
		if why := context.Cause(ctx); why != nil {
			return c.withdrawn(ctx, why)
		}
		if unrecorded := (*unrecordedError)(nil); errors.As(err, &unrecorded) {
			return c.unrecorded(unrecorded)
		}
		return c.failed(err)
	}
	keep := false
	defer func() { b.stages.give(at, keep) }()
	if !at.offers(c.proxy.catalog.Load(), c.target) {
		return c.deny(ctx, ruleQuarantine, "the tool's definition has changed")
	}
	if err := at.stage.Lay(ctx, c.staging.files); err != nil {
		return c.deny(ctx, ruleChanged, err.Error())
	}
	c.record.Sandboxed = true
	if c.login != nil {
		c.note("login", c.login.String())
	}
	c.note("signature", c.verdict.Signs)
	if err := c.append(ctx, c.record); err != nil {
		return c.unrecorded(err)
	}
	spec := b.stagedSpec(c.staging, at.dir, 0)
	spec.Name = filepath.Base(at.dir)
	defer c.prepareSigning(ctx, b, spec)()
	c.ending.began = time.Now()
	_ = at.permit(true) // forgets what was refused to earlier calls
	got, err := at.conn.call(ctx, c, nil, func() {})
	refusal := at.permit(false)
	if err != nil {
		return c.failed(err)
	}
	result, toolFailed, err := c.cleaned(ctx, got)
	if err == nil && !toolFailed {
		result = c.sign(ctx, result)
		err = at.stage.Commit(ctx)
	}
	if err != nil {
		return c.failed(err)
	}
	c.answered(result, toolFailed)
	if toolFailed && refusal != nil {
		c.outcome.is(approval.EndFailed, refusal.Error())
	}
	keep = c.record.Decision == audit.Granted || c.record.Decision == audit.Allow
	return result
}

// startAhead starts the server that will carry out the call while the person thinks. It
// returns the function to be called when the wait is over.
func (c *call) startAhead() func() {
	b := c.proxy.backend(c.target.server)
	switch {
	case b == nil:
	case c.staging == nil:
		b.startAhead()
	default:
		p := c.staging
		b.stages.expect(p)
		return func() { b.stages.forget(p) }
	}
	return func() {}
}
