package stored

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// WaitingCall is a call that waits for a person, as it is stored. If this process is killed, the
// next one lets the call wait again if the agent still runs, or records that nobody decided it. The
// preview is not stored, because it may quote the person's files.
type WaitingCall struct {
	ID          string          `json:"id"`
	Number      int             `json:"number,omitempty"`
	Plane       string          `json:"plane,omitempty"`
	Ticket      string          `json:"ticket,omitempty"` // the call's id in the audit; "" if it cannot wait again
	Server      string          `json:"server"`
	Tool        string          `json:"tool"`
	Arguments   json.RawMessage `json:"arguments,omitempty"` // with secrets masked; if any are, Ticket is ""
	Requested   json.RawMessage `json:"requested,omitempty"` // as the agent wrote them
	Digest      string          `json:"digest"`
	Rule        string          `json:"rule"`
	Reason      string          `json:"reason,omitempty"`
	Fingerprint string          `json:"fingerprint,omitempty"` // of the preview
	AskedAt     time.Time       `json:"askedAt"`
}

// WriteWaiting writes the file of a waiting call.
func WriteWaiting(l Layout, u WaitingCall) error {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // arguments must be read back as they were
	err := encoder.Encode(u)
	if err == nil {
		err = os.MkdirAll(l.Waiting(), 0o700)
	}
	// The file is not synced, because that would delay the panel. After a power cut the agent is
	// gone, too, so that the call could not wait again anyway.
	unready := l.WaitingCall(u.ID) + ".new"
	if err == nil {
		err = os.WriteFile(unready, data.Bytes(), 0o600)
	}
	if err == nil {
		err = os.Rename(unready, l.WaitingCall(u.ID))
	}
	return err
}

// ReadWaiting reads the waiting calls of a session, in the order of their numbers.
func ReadWaiting(l Layout) ([]WaitingCall, error) {
	var all []WaitingCall
	for _, path := range l.WaitingCalls() {
		var u WaitingCall
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &u)
		}
		if err == nil && path != l.WaitingCall(u.ID) {
			err = fmt.Errorf("%s is the file of another call, %q", path, u.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("read the waiting calls: %w", err)
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b WaitingCall) int { return a.Number - b.Number })
	return all, nil
}

// WaitingCallOf returns the part of an escalation that is stored. A call that contains a secret
// cannot wait again, because the secret is masked in the stored call.
func WaitingCallOf(redact *audit.Redactor, i approval.Escalation) WaitingCall {
	u := WaitingCall{
		ID: i.ID, Number: i.Number, Plane: i.Plane, Server: i.Server, Tool: i.Tool, Arguments: redact.JSON(i.Arguments),
		Digest: i.Digest, Rule: i.Rule, AskedAt: i.AskedAt,
	}
	open := bytes.Equal(u.Arguments, i.Arguments) && bytes.Equal(redact.JSON(i.Requested), i.Requested) &&
		redact.Text(i.Reason) == i.Reason
	if i.Plane == audit.PlaneTool && open {
		u.Ticket, u.Requested, u.Reason = i.Ticket, i.Requested, i.Reason
	}
	u.Fingerprint = i.Fingerprint()
	return u
}
