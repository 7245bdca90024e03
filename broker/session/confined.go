package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// confinementCheck returns the function that judges a container's report before its agent starts.
// Isolation that differs from the order is an error. The person is told of limits that differ.
func (s *Session) confinementCheck(spec docker.Spec, info docker.Info) func(report []byte) error {
	memory, cpus, pids := spec.Limits(info)
	want := seen.Want{
		UID: s.inside.uid, GID: s.inside.gid, MemoryBytes: memory, CPUs: cpus, Pids: pids,
		Architecture: info.Architecture, Rootless: info.Rootless,
	}
	return func(report []byte) error {
		parsed, err := seen.Parse(report)
		if err != nil {
			return err
		}
		warnings, err := parsed.Judge(want)
		if err != nil {
			return err
		}
		if err := s.findTokens(parsed.Tokens); err != nil {
			return err
		}
		for _, w := range warnings {
			s.notice(true, "in this container "+w)
		}
		lately := reach.LastSeen{User: parsed.User(), Isolation: seen.Isolation(warnings), Differs: len(warnings) > 0, At: time.Now().UTC()}
		if err := s.deps.Config.Ways.NoteSeen(info.Endpoint, info.Version, lately); err != nil {
			s.deps.Log.Warn("store what the container reported", "session", s.fixed.ID, "error", err)
		}
		return nil
	}
}

// confinementCheckAgain is confinementCheck for a container that an earlier process has started. It
// checks no limits and no shared directories.
func (s *Session) confinementCheckAgain(info docker.Info) func(report []byte) error {
	want := seen.Want{UID: s.inside.uid, GID: s.inside.gid, Rootless: info.Rootless}
	return func(report []byte) error {
		parsed, err := seen.Parse(report)
		if err == nil {
			_, err = parsed.Judge(want)
		}
		return err
	}
}

// findTokens checks that the tokens which the bridge has written into shared directories are on this
// machine. Some engines mount an empty directory instead, without an error.
func (s *Session) findTokens(tokens []seen.Token) error {
	if s.elsewhere != nil {
		return nil // the container shares no directories
	}
	places := map[string]string{agent.Home: s.layout.Home(), agent.Workspace: s.fixed.Workspace}
	for _, t := range tokens {
		place := places[t.Place]
		if place == "" {
			return fmt.Errorf("the container has left a token in %q", t.Place)
		}
		if t.Failed != "" && t.Place == agent.Workspace && !canWrite(place) {
			continue
		}
		if err := findToken(place, t); err != nil {
			return fault.New(`share the directory with the engine's machine, or set "engine": {"files": "copied"} in config.json`,
				"%w: %s: %w", errNotShared, place, err)
		}
	}
	return nil
}

// canWrite reports whether an agent can certainly write to a directory of this machine: this process
// can, and it runs as the same user.
func canWrite(dir string) bool {
	if os.Geteuid() == 0 {
		return false // agents are not root
	}
	f, err := os.CreateTemp(dir, ".ironcurtain-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// findToken compares a token with the file of that name on this machine.
func findToken(place string, t seen.Token) error {
	if t.Failed != "" {
		return fmt.Errorf("the container could not write to it: %.200q", t.Failed)
	}
	root, err := os.OpenRoot(place)
	if err != nil {
		return err
	}
	defer root.Close()
	// Another agent that works in the directory may replace the file by anything. O_NONBLOCK keeps
	// this from waiting at a pipe that nobody writes to.
	f, err := root.OpenFile(t.Name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("a file that the container wrote to it is not on this machine")
	} else if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("a file that the container wrote to it is not a regular file on this machine"))
	}
	content, err := io.ReadAll(io.LimitReader(f, seen.MaxSize))
	if err == nil && string(content) != t.Content {
		err = errors.New("a file that the container wrote to it has other content on this machine")
	}
	return err
}

// inside is the user of a container's programs, by the numbers in the container. That user owns the
// session's files, possibly under other numbers on this machine.
type inside struct{ uid, gid int }

// String returns the user in the form for container engines.
func (i inside) String() string { return fmt.Sprintf("%d:%d", i.uid, i.gid) }

// root reports whether the user has root's number in the container. Outside it must be an ordinary
// user, or the container's report is refused.
func (i inside) root() bool { return i.uid == 0 }

// labelUser is the label with a container's user, if its numbers are not those of the files' owner.
const labelUser = "ironcurtain.user"

// insideOf returns the user in a container: the owner's numbers if the engine keeps them, otherwise 0,
// which stands for the owner in a container of a rootless engine.
func insideOf(owner stored.User, keeps bool) inside {
	if keeps {
		return inside{owner.UID, owner.GID}
	}
	return inside{}
}

// insideLabeled returns the user of a container with these labels.
func insideLabeled(owner stored.User, labels map[string]string) inside {
	if labels[labelFiles] == string(reach.Copied) {
		return elsewhereUser
	}
	return insideOf(owner, labels[labelUser] != inside{}.String())
}

// chooseUser decides the user in the container. Call it before anything is made for the container.
func (s *Session) chooseUser(ctx context.Context, engine *docker.Client, image string) error {
	keeps, err := engine.KeepsUser(ctx, image)
	if err != nil {
		return err
	}
	s.setInside(insideOf(s.owner, keeps))
	return nil
}

func (s *Session) setInside(user inside) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside = user
}
