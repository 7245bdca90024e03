package broker

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// maxRecord bounds a session's record, in bytes.
const maxRecord = 1 << 20

// Stored lists the sessions whose directories exist below home, the one used
// last first. Of one that no process owns it is known that it does not run
// under a multiplexer, whatever its record says. What the sessions' homes tell of
// their conversations is left out when agents is nil.
func Stored(home string, agents *agent.Registry) ([]StoredSession, error) {
	entries, err := os.ReadDir(filepath.Join(home, "sessions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var all []StoredSession
	for _, e := range entries {
		if one, err := readStored(home, SessionID(e.Name()), agents); err == nil {
			all = append(all, one) // a directory without a record never became a session
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].LastActivity.After(all[j].LastActivity) })
	return all, nil
}

// FindStored is the stored session whose id begins with prefix. It fails when
// there is none or more than one.
func FindStored(home, prefix string) (StoredSession, error) {
	all, err := Stored(home, nil)
	if err != nil {
		return StoredSession{}, err
	}
	var found []StoredSession
	for _, s := range all {
		if prefix != "" && strings.HasPrefix(string(s.ID), prefix) {
			found = append(found, s)
		}
	}
	const next = "list them with 'ironcurtain-mux sessions ls'"
	switch len(found) {
	case 0:
		return StoredSession{}, fault.New(next, "no session begins with %q", prefix)
	case 1:
		return found[0], nil
	}
	return StoredSession{}, fault.New(next, "%d sessions begin with %q", len(found), prefix)
}

// readStored reads what one session's directory tells.
func readStored(home string, id SessionID, agents *agent.Registry) (StoredSession, error) {
	if !validID(id) {
		return StoredSession{}, fmt.Errorf("%q is not the id of a session", id)
	}
	l := layoutOf(home, id)
	r, err := readRecord(l)
	if err != nil {
		return StoredSession{}, err
	}
	s := StoredSession{Session: r.Session, LastActivity: r.CreatedAt}
	for _, path := range []string{l.record(), l.audit()} {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(s.LastActivity) {
			s.LastActivity = info.ModTime().UTC()
		}
	}
	if s.Owned = docker.LeaseHeld(l.lock()); !s.Owned {
		if s.Detached = wasKilled(l); s.Detached {
			s.Waiting = len(l.waitingCalls())
		}
		if s.State != StateDead {
			s.State = StateClosed
		}
	}
	if agents == nil {
		return s, nil
	}
	if adapter, err := agents.Named(s.Agent); err == nil {
		c := adapter.Conversation(l.home(), string(id))
		s.Begun, s.LastPrompt = c.Begun, cmp.Or(r.Task, c.LastPrompt)
		s.Ephemeral = adapter.Host
	}
	return s, nil
}

// wasKilled reports whether the session's multiplexer had no time to take it
// down: its sockets are still there.
func wasKilled(l layout) bool {
	_, err := os.Lstat(l.sockets())
	return err == nil
}

// record is a session as its session.json keeps it.
type record struct {
	Session
	Base string `json:"base,omitempty"` // the commit that the workspace began with
	Task string `json:"task,omitempty"` // the last one without a terminal; empty when it has had one since
}

// readRecord reads a session's record.
func readRecord(l layout) (record, error) {
	f, err := os.Open(l.record())
	if err != nil {
		return record{}, fmt.Errorf("read session record: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > maxRecord {
		err = fmt.Errorf("%s is %d bytes long", l.record(), info.Size())
	}
	if err != nil {
		return record{}, fmt.Errorf("read session record: %w", err)
	}
	var r record
	if err := json.NewDecoder(f).Decode(&r); err != nil {
		return record{}, fmt.Errorf("read session record %s: %w", l.record(), err)
	}
	if string(r.ID) != filepath.Base(l.dir) {
		return record{}, fmt.Errorf("%s tells of another session, %q", l.record(), r.ID)
	}
	return r, nil
}

// validID reports whether the id has the form of those that are drawn: it
// becomes part of paths.
func validID(id SessionID) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}
