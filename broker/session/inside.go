package session

import (
	"context"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

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
