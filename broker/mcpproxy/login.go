package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/gitauth"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// login is how the person logs in at the remote of a call.
type login struct {
	call gitauth.Call
	web  gitauth.Credential
	ssh  gitauth.SSHLogin
}

// String says whose login it is, in words for a panel.
func (l *login) String() string {
	if l.call.Remote.Scheme == "ssh" {
		return l.ssh.String()
	}
	return l.web.String()
}

// open makes the gate through which a process logs in. No connection passes it yet.
func (l *login) open(ctx context.Context, dir string) (*gitauth.Gate, error) {
	if l.call.Remote.Scheme == "ssh" {
		return gitauth.OpenSSH(ctx, dir, l.call, l.ssh)
	}
	return gitauth.OpenHTTPS(ctx, dir, l.call, l.web)
}

// outlet returns a gate as the way out of a sandbox. env is the environment of the server.
func outlet(g *gitauth.Gate, env map[string]string) *sandbox.Outlet {
	settings, err := strconv.Atoi(env["GIT_CONFIG_COUNT"])
	if err != nil {
		settings = 0
	}
	return &sandbox.Outlet{Socket: g.Socket(), Host: g.Host(), Allowed: g.Allowed(), Script: g.Exports(settings), Seen: g.Readable()}
}

// findLogin looks for the person's login at the remote of an escalated call. It returns nil if the
// call needs none, or if there is none to use: then the note says why. An error says why the call
// cannot take effect.
func (c *call) findLogin(ctx context.Context) (found *login, note string, err error) {
	b := c.proxy.backend(c.target.server)
	if c.verdict.Contacts == "" || b == nil || b.stages == nil {
		return nil, "", nil
	}
	remotes, err := remotesOf(c.verdict.Values)
	if err != nil || !slices.ContainsFunc(remotes, func(a gitx.Address) bool { return a.Scheme == "https" || a.Scheme == "ssh" }) {
		return nil, "", err
	}
	if err := c.proxy.room.showing.take(ctx, c.proxy.waits); err != nil {
		return nil, "", err
	}
	defer c.proxy.room.showing.give()
	remote := remotes[0]
	l := &login{call: gitauth.Call{Remote: remote, Push: c.verdict.Contacts == policy.Pushes}}
	switch {
	case len(remotes) > 1 && slices.ContainsFunc(remotes, func(a gitx.Address) bool { return a.Scheme == "ssh" }):
		return nil, "", errors.New("git would log in at several remotes; name one of them")
	case len(remotes) > 1:
		return nil, "without a login, because git would contact several remotes", nil
	case remote.Scheme == "ssh":
		if l.ssh, err = gitauth.FindSSH(ctx, remote); err != nil {
			return nil, "", err
		}
	default:
		if l.web, err = gitauth.Fill(ctx, remote); err != nil {
			return nil, fmt.Sprintf("without a login: %v", err), nil
		}
	}
	return l, "logs in as " + l.String(), nil
}

// remotesOf returns the remotes among the values of a call.
func remotesOf(values []policy.Value) ([]gitx.Address, error) {
	var all []gitx.Address
	for _, v := range values {
		if v.Role != policy.GitRemote || v.Origin == "" {
			continue
		}
		a, err := gitx.ParseAddress(v.Text)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(b gitx.Address) bool { return a.String() == b.String() }) {
			all = append(all, a)
		}
	}
	return all, nil
}

// noteLogin shows the person which login would be used.
func (c *call) noteLogin() {
	if c.effect != nil && c.loginNote != "" {
		c.effect.Lines = slices.Insert(c.effect.Lines, 0, preview.Line{Kind: preview.Note, Text: c.loginNote})
	}
}
