package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Changes compares a session's workspace with its state when the agent was first started.
type Changes struct {
	// Base is the commit that the workspace is compared with. It is empty if the workspace is not a
	// repository; then all files are listed.
	Base string `json:"base,omitempty"`
	// Since is set for an agent without a container, because git is not run for it. Text then lists
	// the files that were written since that time.
	Since time.Time `json:"since,omitzero"`
	// Text is git's output, or a list of files. It is not trusted: the agent decides
	// what it contains.
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"` // Text was longer and has been cut
	// Obeyed is what programs of this machine would run. The host finds it without git.
	Obeyed stored.Obeyed `json:"obeyed"`
	// Trouble says why Text is missing; only Obeyed is known then.
	Trouble string `json:"trouble,omitempty"`
}

// Limits of comparing a workspace.
const (
	changesLimit = 256 << 10 // bytes of text
	changesTime  = 30 * time.Second
)

// gitInside runs git in the container. If the repository makes git run a program there, that
// program has no more rights than the agent.
const gitInside = `git -c safe.directory=/workspace -C /workspace --no-pager "$@"`

// markBase is the shell command that prints a commit of the tracked files in their present state,
// with uncommitted changes. It changes no file.
const markBase = `g() { ` + gitInside + `; }; b=$(g stash create 2>/dev/null); [ -n "$b" ] || b=$(g rev-parse -q --verify HEAD 2>/dev/null); echo "$b"`

// showChanges is the shell command that compares the workspace with the commit $1, or
// lists the files when $1 is empty.
const showChanges = `g() { ` + gitInside + `; }
if [ -n "$1" ]; then
	g log --no-decorate --oneline "$1"..HEAD -- | sed 's/^/commit: /'
	g diff --no-ext-diff --no-textconv --no-color --stat --patch "$1" --
	g ls-files --others --exclude-standard | sed 's/^/new file: /'
else
	cd /workspace && find . -name .git -prune -o -type f -print | sed 's/^\.\//file: /' | sort
fi`

// Changes returns what has changed in the workspace since the session's start.
func (s *Session) Changes(ctx context.Context) (c Changes, err error) {
	c.Base = s.base()
	if err := s.fetchFiles(ctx); err != nil {
		return Changes{}, fmt.Errorf("show changes: %w", err)
	}
	if s.adapter.Place != agent.OnHost {
		if c.Obeyed, err = s.obeyed(ctx, stored.LookTime); err != nil {
			c.Obeyed.Missed = err.Error()
		}
	}
	var out string
	if s.adapter.Place == agent.InProcess {
		c.Since = s.fixed.CreatedAt
		out, err = writtenSince(ctx, s.fixed.Workspace, c.Since)
	} else {
		out, err = s.exec(ctx, showChanges, s.base())
	}
	if err != nil && len(c.Obeyed.Lines()) == 0 {
		return Changes{}, fmt.Errorf("show changes: %w", err)
	}
	if err != nil {
		c.Trouble = describe(err)
	}
	c.Text, c.Cut = out, len(out) > changesLimit
	if c.Cut {
		c.Text = out[:changesLimit]
	}
	c.Text = strings.ToValidUTF8(c.Text, "�")
	return c, nil
}

// writtenSince lists the files below a directory that were written since a time, except those in
// .git. It does not run git, because git would run programs that the directory names, on this
// machine.
func writtenSince(ctx context.Context, dir string, since time.Time) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, changesTime)
	defer cancel()
	var lines []string
	size := 0
	err := dirtree.Walk(ctx, dir, func(e *dirtree.Entry) error {
		switch {
		case size > changesLimit:
			return fs.SkipAll
		case e.IsDir() && e.Name == ".git":
			return fs.SkipDir
		case e.IsDir(), e.Name == ".git", time.Unix(e.Stat.Mtim.Unix()).Before(since):
			return nil
		}
		lines = append(lines, "file: "+strings.ReplaceAll(e.Path(), "\n", `\n`)+"\n")
		size += len(lines[len(lines)-1])
		return nil
	})
	slices.Sort(lines)
	return strings.Join(lines, ""), err
}

// noteBase sets the session's base commit, once per session. It runs in the background while the
// agent starts. It sets nothing if the workspace cannot be examined or is not a repository. It
// checks for .git first, which costs less than a command in the container.
func (s *Session) noteBase(ctx context.Context) {
	if _, err := os.Lstat(filepath.Join(s.fixed.Workspace, ".git")); errors.Is(err, fs.ErrNotExist) {
		return
	}
	out, err := s.exec(ctx, markBase)
	base := strings.TrimSpace(out)
	if err != nil || !isCommit(base) {
		return
	}
	s.mu.Lock()
	s.baseCommit = base
	s.mu.Unlock()
	if err := s.save(); err != nil {
		s.deps.Log.Warn("store the base commit of the workspace", "session", s.fixed.ID, "error", err)
	}
}

// isCommit reports whether a text is the full name of a commit.
func isCommit(name string) bool {
	if len(name) != 40 && len(name) != 64 {
		return false
	}
	return strings.Trim(name, "0123456789abcdef") == ""
}

// base returns the commit that Changes compares with, or "".
func (s *Session) base() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.baseCommit
}

// exec runs a shell command in the session's container and returns its output.
func (s *Session) exec(ctx context.Context, script string, args ...string) (string, error) {
	if !s.Contained() {
		return "", fault.New("use git in "+s.fixed.Workspace, "%s has no container, and git runs only there", s.adapter.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, changesTime)
	defer cancel()
	s.mu.Lock()
	running, user := s.program, s.inside
	s.mu.Unlock()
	container, ok := running.(interface{ ID() string })
	select {
	case <-s.finished:
		ok = false
	default:
	}
	if !ok {
		return "", fault.New("open the session again with /resume", "the session's container does not run")
	}
	engine, err := s.deps.Engine(ctx)
	if err != nil {
		return "", err
	}
	out, stderr, code, err := engine.Exec(ctx, container.ID(), append([]string{"sh", "-c", script, "sh"}, args...), user.String())
	switch {
	case errors.Is(err, docker.ErrNotRunning), errors.Is(err, docker.ErrNoContainer):
		return "", fault.New("open the session again with /resume", "the session's container does not run")
	case err != nil:
		return "", err
	case code != 0 && out == "":
		return "", fmt.Errorf("the command in the container failed with code %d: %q", code, text.FirstLine(stderr, 200))
	}
	return out, nil
}
