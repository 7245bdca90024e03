package stored

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/shortid"
)

// maxRecord bounds a session's record, in bytes.
const maxRecord = 1 << 20

// List lists the sessions below home, the last used first. A session that no process owns does not
// run under a multiplexer, whatever its record says. If agents is nil, List does not read
// conversations from the sessions' homes.
func List(home string, agents *agent.Registry) ([]Entry, error) {
	entries, err := os.ReadDir(filepath.Join(home, "sessions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var all []Entry
	for _, e := range entries {
		if one, err := readStored(home, ID(e.Name()), agents); err == nil {
			all = append(all, one) // a directory without a record never became a session
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].LastActivity.After(all[j].LastActivity) })
	return all, nil
}

// Find returns the stored session whose id begins with word. It fails if there is none or more than
// one. Tabs have no number here: only the daemon knows the bar.
func Find(home, word string) (Entry, error) {
	all, err := List(home, nil)
	if err != nil {
		return Entry{}, err
	}
	return Among(all, word)
}

// Among returns the session whose id begins with word, or whose tab has that number. It fails if there
// is none or more than one.
func Among(all []Entry, word string) (Entry, error) {
	ones := make([]shortid.One, len(all))
	for i, s := range all {
		ones[i] = shortid.One{ID: s.ID, Number: s.Tab}
	}
	at, found, err := shortid.Find("session", word, ones)
	if err != nil {
		return Entry{}, err
	}
	if !found {
		return Entry{}, fault.New("list the sessions with 'ironcurtain-mux sessions ls'", "no session has the id %q, or a tab with that number%s", word, shortid.DidYouMean(word, ones))
	}
	return all[at], nil
}

// readStored reads the directory of one session.
func readStored(home string, id ID, agents *agent.Registry) (Entry, error) {
	if !ValidID(id) {
		return Entry{}, fmt.Errorf("%q is not the id of a session", id)
	}
	l := LayoutOf(home, id)
	r, err := ReadRecord(l)
	if err != nil {
		return Entry{}, err
	}
	s := Entry{Session: r.Session, LastActivity: r.CreatedAt}
	s.Name, s.Unlanded = ReadName(l), readUnlanded(l)
	for _, path := range []string{l.Record(), l.Audit()} {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(s.LastActivity) {
			s.LastActivity = info.ModTime().UTC()
		}
	}
	if s.Owned = docker.LeaseHeld(l.Lock()); !s.Owned {
		if s.Detached = WasKilled(l); s.Detached {
			s.Waiting = len(l.WaitingCalls())
		}
		if s.State != StateDead {
			s.State = StateClosed
		}
	}
	if agents == nil {
		return s, nil
	}
	if adapter, err := agents.Named(s.Agent); err == nil {
		c := adapter.Conversation(l.Home(), id)
		s.Begun, s.LastPrompt = c.Begun, cmp.Or(r.Task, c.LastPrompt)
		s.Ephemeral = adapter.Place == agent.OnHost
	}
	return s, nil
}

// WasKilled reports whether the session's multiplexer was killed before it could take the session
// down: the sockets still exist.
func WasKilled(l Layout) bool {
	_, err := os.Lstat(l.Sockets())
	return err == nil
}

// Record is the content of a session's session.json.
type Record struct {
	Session
	Base string `json:"base,omitempty"` // the commit that the workspace began with
	Task string `json:"task,omitempty"` // the last task; "" if the session has had a terminal since
}

// ReadRecord reads a session's record.
func ReadRecord(l Layout) (Record, error) {
	f, err := os.Open(l.Record())
	if err != nil {
		return Record{}, fmt.Errorf("read session record: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > maxRecord {
		err = fmt.Errorf("%s is %d bytes long", l.Record(), info.Size())
	}
	if err != nil {
		return Record{}, fmt.Errorf("read session record: %w", err)
	}
	var r Record
	if err := json.NewDecoder(f).Decode(&r); err != nil {
		return Record{}, fmt.Errorf("read session record %s: %w", l.Record(), err)
	}
	if string(r.ID) != filepath.Base(l.Dir) {
		return Record{}, fmt.Errorf("%s is the record of another session, %q", l.Record(), r.ID)
	}
	return r, nil
}

// ValidID reports whether an id has the form of NewID's, so that it can be part of a path.
func ValidID(id ID) bool {
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
