package mirror

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/gitauth"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// maxSize is the largest pack that a remote may send, in bytes.
const maxSize = 4 << 30

// Limits; tests lower them.
var (
	askLimit = 30 * time.Second
	fetching = gitrun.Distant(maxSize, 20*time.Minute, 8)
)

var errSlow = errors.New("no answer in time")

// findBranch asks the remote for a branch and returns its name. Without a name it returns the name
// of the remote's default branch.
func (m *Mirror) findBranch(ctx context.Context, branch string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askLimit, errSlow)
	defer cancel()
	out := &bounded.Buffer{Most: maxAnswer, Err: &gitrun.Limit{What: "it answers with too many references"}}
	args := []string{"ls-remote", "--symref", "--", m.remote.String(), "HEAD", "refs/heads/" + branch}
	if err := m.runAsPerson(ctx, gitrun.Command{Args: args, Out: out}, nil); err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		value, ref, _ := strings.Cut(line, "\t")
		own, isOwn := strings.CutPrefix(value, "ref: refs/heads/")
		switch {
		case branch != "" && ref == "refs/heads/"+branch:
			return branch, nil
		case branch == "" && ref == "HEAD" && isOwn && CheckBranch(own) == nil:
			return own, nil
		}
	}
	if branch != "" {
		return "", refusal(m.remote, "see its branches with 'git ls-remote --heads "+m.remote.String()+"'", "it has no branch %s", branch)
	}
	return "", refusal(m.remote, "make a first commit there, or name a branch with --branch", "it has no commit yet, or no default branch")
}

// fetchInto fetches all branches and tags into the repository at dir.
func (m *Mirror) fetchInto(ctx context.Context, dir string) error {
	return m.runAsPerson(ctx, gitrun.Command{
		Args: []string{
			"fetch", "--progress", "--prune", "--force", "--no-auto-maintenance", "--no-recurse-submodules", "--no-write-fetch-head", "--",
			m.remote.String(), "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*",
		},
		Env: []string{"GIT_DIR=" + dir},
	}, m.tell)
}

// runAsPerson runs git with the remote, as the person. It gets the person's login only if the remote
// asks for one.
func (m *Mirror) runAsPerson(ctx context.Context, cmd gitrun.Command, tell Progress) error {
	said, err := m.run(ctx, cmd, tell)
	if err != nil && ctx.Err() == nil && m.login == nil && said.wantsLogin() && m.remote.Scheme == "https" {
		credential, fillErr := gitauth.Fill(ctx, m.remote)
		if fillErr != nil {
			return fillErr
		}
		m.login = &credential
		said, err = m.run(ctx, cmd, tell)
	}
	if err != nil {
		return said.explain(ctx, m.remote, err)
	}
	return nil
}

// run runs git once. Its settings keep it from fetching more than was requested, and from waiting for
// a server that sends nothing.
func (m *Mirror) run(ctx context.Context, cmd gitrun.Command, tell Progress) (*gitOutput, error) {
	said := &gitOutput{each: tell}
	settings := []string{
		"credential.helper=", // none but the one that Lend adds
		"http.followRedirects=initial", "http.lowSpeedLimit=1", "http.lowSpeedTime=60",
		"transfer.bundleURI=false", "fetch.unpackLimit=1", "transfer.unpackLimit=1", "fetch.writeCommitGraph=false", "submodule.recurse=false",
	}
	if m.login != nil {
		setting, login, err := m.login.Lend(m.remote)
		if err != nil {
			return said, err
		}
		defer login.Close()
		settings, cmd.File = append(settings, setting), login
	}
	var args []string
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	if out, ok := cmd.Out.(*bounded.Buffer); ok {
		out.Reset()
	}
	cmd.Args, cmd.Whole, cmd.Err = append(args, cmd.Args...), gitauth.HostEnvironment(m.remote), said
	return said, fetching.Run(ctx, cmd)
}
