package broker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// keepWaiting writes a waiting call to the session's directory.
func (b *Broker) keepWaiting(i approval.Escalation) {
	if err := stored.WriteWaiting(stored.LayoutOf(b.config.Home, i.Session), stored.WaitingCallOf(b.redact, i)); err != nil {
		b.log.Warn("a waiting call was not stored", "escalation", i.ID, "error", err)
	}
}

// dropWaiting removes the file of a call that waits no longer.
func (b *Broker) dropWaiting(session, id string) {
	l := stored.LayoutOf(b.config.Home, session)
	if err := os.Remove(l.WaitingCall(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Warn("a settled call is still stored as waiting", "escalation", id, "error", err)
	}
}

// dropSettled removes the files of the open sessions' calls that wait no longer.
func (b *Broker) dropSettled() {
	for _, s := range b.openSessions() {
		if !s.Restored() {
			continue // the calls that waited under a killed multiplexer are not restored yet
		}
		for _, path := range s.Files().WaitingCalls() {
			id := strings.TrimSuffix(filepath.Base(path), ".json")
			if _, waits := b.approvals.Find(id); !waits {
				b.dropWaiting(string(s.ID()), id)
			}
		}
	}
}
