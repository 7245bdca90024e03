package mirror

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Progress is called with each line that git or the remote prints, which is not trusted. A passing
// line replaces the passing line before it.
type Progress func(line string, passing bool)

// How much of git's standard error is kept.
const (
	maxLine  = 300 // bytes of a line
	maxLines = 30
)

// gitOutput reads git's standard error. It passes all lines on, and keeps the last ones that are
// git's own and not the remote's.
type gitOutput struct {
	each   Progress // may be nil
	part   []byte
	passes bool // part ended with a carriage return
	lines  []string
}

func (s *gitOutput) Write(p []byte) (int, error) {
	for _, c := range p {
		if c == '\n' || s.passes {
			s.line(string(bytes.TrimSpace(s.part)), c != '\n')
			s.part, s.passes = s.part[:0], false
		}
		switch {
		case c == '\n':
		case c == '\r':
			s.passes = true
		case len(s.part) < maxLine:
			s.part = append(s.part, c)
		}
	}
	return len(p), nil
}

// password matches a login in a URL, which the person's git configuration may insert.
var password = regexp.MustCompile(`://[^/\s'"]*@`)

func (s *gitOutput) line(line string, passing bool) {
	line = password.ReplaceAllString(strings.ToValidUTF8(line, "?"), "://")
	if line == "" {
		return
	}
	if s.each != nil {
		s.each(line, passing)
	}
	if !passing && !strings.HasPrefix(line, "remote:") {
		if s.lines = append(s.lines, line); len(s.lines) > maxLines {
			s.lines = s.lines[1:]
		}
	}
}

// contains reports whether git's standard error contains one of the texts.
func (s *gitOutput) contains(texts ...string) bool {
	all := strings.Join(s.lines, "\n")
	for _, one := range texts {
		if strings.Contains(all, one) {
			return true
		}
	}
	return false
}

// cause returns the line that explains a failure best: the first one that is an error. It
// skips git's line about a failed ssh, which does not say why ssh failed.
func (s *gitOutput) cause() string {
	for _, line := range s.lines {
		for _, begin := range []string{"fatal: ", "error: ", "ERROR: ", "ssh: "} {
			if rest, ok := strings.CutPrefix(line, begin); ok && !strings.HasPrefix(rest, "Could not read from remote repository") {
				return text.Readable(rest, maxLine)
			}
		}
	}
	if len(s.lines) == 0 {
		return ""
	}
	return text.Readable(s.lines[0], maxLine)
}

// wantsLogin reports whether git has failed because the remote asked for a login.
func (s *gitOutput) wantsLogin() bool {
	return s.contains("could not read Username", "could not read Password")
}

// explain returns an error that says in one line why git could not fetch, and what to do.
func (s *gitOutput) explain(ctx context.Context, remote gitx.Address, err error) error {
	var limit *gitrun.Limit
	const large = "clone it yourself, then open it with --workspace DIR --worktree"
	look := "see what 'git ls-remote " + remote.String() + "' says"
	switch {
	case errors.Is(err, gitrun.ErrNoGit):
		return refusal(remote, "install git", "%w", err)
	case errors.Is(context.Cause(ctx), errSlow):
		return refusal(remote, "see whether it answers 'git ls-remote "+remote.String()+"'", "%s gave no answer in %v", remote.Host, askLimit)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &limit):
		return refusal(remote, large, "%w", err)
	case s.contains("File too large"):
		return refusal(remote, large, "it is larger than a clone may be (%d MB)", maxSize>>20)
	case s.contains("signal 9", "signal 6", "out of memory"):
		return refusal(remote, large, "git needs more memory for it than a clone may have")
	case s.contains("No space left on device"):
		return refusal(remote, "make room on the disk", "no space left on device")
	case s.contains("REMOTE HOST IDENTIFICATION HAS CHANGED"):
		return refusal(remote, "ask those who run the host for its new key, then replace the old one in your known_hosts", "the host %s shows another key than the one in your known_hosts", remote.Host)
	case s.contains("Host key verification failed", "host key is known for"):
		return refusal(remote, "connect once yourself with ssh and compare the key", "the host %s is not in your known_hosts", remote.Host)
	case s.contains("Permission denied ("):
		return refusal(remote, "check that 'ssh "+remote.Host+"' logs in without asking, with a key that your SSH agent has", "%s refused the login", remote.Host)
	case s.contains("Authentication failed", "The requested URL returned error: 403"):
		return refusal(remote, "check that the login which git keeps for it may read this repository", "%s refused the login, or leads to another host that wants one", remote.Host)
	case s.wantsLogin():
		return refusal(remote, "clone from the address that it leads to", "it leads to another host, which wants a login")
	case s.contains("Could not resolve host"):
		return refusal(remote, "check the address, and that this machine is connected", "the host %s was not found", remote.Host)
	case s.cause() == "":
		return refusal(remote, look, "%w", err)
	}
	return refusal(remote, look, "git says %q", s.cause())
}
