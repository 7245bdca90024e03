package autoapprove

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Entry is one decision of the automatic approval, in its own log.
type Entry struct {
	Time       time.Time `json:"time"`
	Session    string    `json:"session"`
	Escalation string    `json:"escalation"`
	Server     string    `json:"server"`
	Tool       string    `json:"tool"`
	Digest     string    `json:"digest"` // of the judged call
	Receipt    int       `json:"receipt"`
	Quote      string    `json:"quote"`            // the typed text of the receipt
	Outcome    string    `json:"outcome"`          // "approved" or "asked"
	Reason     string    `json:"reason,omitempty"` // why a person was asked
	Model      string    `json:"model,omitempty"`
	Prompt     string    `json:"prompt,omitempty"` // SHA-256 of what the model was asked
	Answer     string    `json:"answer,omitempty"` // of the model, as it came
	Attempts   int       `json:"attempts,omitempty"`
	TookMs     int64     `json:"tookMs,omitempty"`
}

// The outcomes of an entry.
const (
	OutcomeApproved = "approved"
	OutcomeAsked    = "asked"
)

// Log keeps the entries, one line of JSON each. It is safe for concurrent use.
type Log struct {
	path string
	mu   sync.Mutex
}

// NewLog returns a log at a path. The first entry creates the file.
func NewLog(path string) *Log { return &Log{path: path} }

// Quota is the largest size of a session's log, in bytes. There is a limit because calls
// that are left to a person are recorded too, so an agent can make the log grow.
const Quota = 64 << 20

// Append writes an entry and returns when it is on the disk. After an error the caller must
// not approve the call.
func (l *Log) Append(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("approval log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("approval log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size()+int64(len(line)) >= Quota {
		err = fmt.Errorf("the log has reached %d MiB; in a new session calls are approved automatically again", Quota>>20)
	}
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("approval log: %w", err)
	}
	return nil
}
