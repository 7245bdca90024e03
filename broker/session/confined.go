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

// confined returns the check of what a container says of itself before its agent begins. Isolation
// that differs from the order is an error; limits that differ are told to the person.
func (s *Session) confinementCheck(spec docker.Spec, info docker.Info) func(report []byte) error {
	memory, cpus, pids := spec.Limits(info)
	want := seen.Want{
		UID: s.inside.uid, GID: s.inside.gid, MemoryBytes: memory, CPUs: cpus, Pids: pids,
		Architecture: info.Architecture, Rootless: info.Rootless,
	}
	return func(report []byte) error {
		said, err := seen.Parse(report)
		if err != nil {
			return err
		}
		warnings, err := said.Judge(want)
		if err != nil {
			return err
		}
		if err := s.findTokens(said.Tokens); err != nil {
			return err
		}
		for _, w := range warnings {
			s.notice(true, "in this container "+w)
		}
		lately := reach.LastSeen{User: said.User(), Isolation: seen.Isolation(warnings), Differs: len(warnings) > 0, At: time.Now().UTC()}
		if err := s.deps.Config.Ways.NoteSeen(info.Endpoint, info.Version, lately); err != nil {
			s.deps.Log.Warn("what was seen in the container is not kept", "session", s.fixed.ID, "error", err)
		}
		return nil
	}
}

// confinementCheckAgain returns the check of a container that was started by an earlier process.
func (s *Session) confinementCheckAgain(info docker.Info) func(report []byte) error {
	want := seen.Want{UID: s.inside.uid, GID: s.inside.gid, Rootless: info.Rootless}
	return func(report []byte) error {
		said, err := seen.Parse(report)
		if err == nil {
			_, err = said.Judge(want)
		}
		return err
	}
}

// findTokens looks on this machine for what the bridge has written into the directories that
// both sides are to see. Some engines mount an empty directory and say nothing.
func (s *Session) findTokens(tokens []seen.Token) error {
	if s.elsewhere != nil {
		return nil // it has directories of its own
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

// canWrite reports whether an agent is sure to be able to write into a directory of this machine,
// because this process can, as the same user.
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

// findToken compares a token with the file of its name on this machine.
func findToken(place string, t seen.Token) error {
	if t.Failed != "" {
		return fmt.Errorf("the container could not write there: %.200q", t.Failed)
	}
	root, err := os.OpenRoot(place)
	if err != nil {
		return err
	}
	defer root.Close()
	// Another agent that works in the directory may put anything in the file's place. Opening a pipe
	// that nobody writes to must not wait.
	f, err := root.OpenFile(t.Name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("what was written there in the container is not here")
	} else if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("what was written there in the container is not a file here"))
	}
	content, err := io.ReadAll(io.LimitReader(f, seen.MaxSize))
	if err == nil && string(content) != t.Content {
		err = errors.New("what was written there in the container is not the same here")
	}
	return err
}

// inside is the user of a container's programs as the container numbers it. It is the owner of
// the session's files, who may have another number on this machine.
type inside struct{ uid, gid int }

// String is the form container engines take.
func (i inside) String() string { return fmt.Sprintf("%d:%d", i.uid, i.gid) }

// root reports whether the user has the number that programs take for root. It is nobody special
// outside, or the container's report is refused.
func (i inside) root() bool { return i.uid == 0 }

// labelUser is the label of a container with its user, where that is not the owner of the session's
// files.
const labelUser = "ironcurtain.user"

// insideOf returns the user in a container of an engine: the owner's number, or 0 where that is
// the owner because the engine is run by them and keeps no numbers.
func insideOf(owner stored.User, keeps bool) inside {
	if keeps {
		return inside{owner.UID, owner.GID}
	}
	return inside{}
}

// insideLabeled returns the user of a container that has these labels.
func insideLabeled(owner stored.User, labels map[string]string) inside {
	if labels[labelFiles] == string(reach.Copied) {
		return elsewhereUser
	}
	return insideOf(owner, labels[labelUser] != inside{}.String())
}

// chooseUser decides the user in the container, of which everything depends that is made for it.
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
