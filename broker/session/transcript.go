package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// transcriptLine is one turn in a session's transcript.
type transcriptLine struct {
	Time    time.Time `json:"time"` // when the task was given
	Prompt  string    `json:"prompt"`
	Typed   bool      `json:"typed"` // a person typed it, or a part of it, for this session
	Text    string    `json:"text"`  // the agent's answer, which is not to be trusted
	Failure string    `json:"failure,omitempty"`
	End     TurnEnd   `json:"end"`
	TookMs  int64     `json:"tookMs"`
	Used    *Usage    `json:"used,omitempty"`
}

// Limits of a transcript, in bytes: of each text, and of the file.
const (
	transcriptText  = 64 << 10
	transcriptQuota = 64 << 20
)

// keepTurn appends a turn to the transcript. A turn that could not be written down has
// happened all the same, so the person is told.
func (s *Session) keepTurn(task Task, began time.Time, t Turn, failed error) {
	s.mu.Lock()
	ran := s.program != nil
	s.mu.Unlock()
	if !ran {
		return // the session's directory may be somebody else's
	}
	if failed != nil {
		t.End, t.Failure = TurnInterrupted, describe(failed)
	}
	redact := audit.NewRedactor(s.deps.Config.Secrets)
	keep := func(s string) string { return text.Clip(redact.Text(s), transcriptText) }
	line, err := json.Marshal(transcriptLine{
		Time: began.UTC(), Prompt: keep(task.Text), Typed: len(task.Spans) > 0, Text: keep(t.Text), Failure: keep(t.Failure),
		End: t.End, TookMs: t.TookMs, Used: t.Used,
	})
	if err == nil {
		err = appendLine(s.layout.Turns(), line)
	}
	if err != nil {
		s.notice(true, fmt.Sprintf("the turn is not in the transcript: %s", describe(err)))
	}
}

// appendLine appends a line to a transcript that has room for it.
func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size()+int64(len(line)) >= transcriptQuota {
		err = fmt.Errorf("it has reached %d MiB", transcriptQuota>>20)
	}
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Close())
}
