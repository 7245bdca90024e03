package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// poll is how often a directory is searched for answers.
const poll = 100 * time.Millisecond

// maxResponse is the size in bytes of the largest file with an answer.
const maxResponse = 64 << 10

// fileRequest is the content of request-<id>.json.
type fileRequest struct {
	ID        string          `json:"escalationId"`
	Server    string          `json:"serverName"`
	Tool      string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`
	Reason    string          `json:"reason"`
	Rule      string          `json:"rule"`
	Digest    string          `json:"digest"`
	Effect    *preview.Effect `json:"effect,omitempty"` // what the call would do
	AskedAt   time.Time       `json:"askedAt"`
	ExpiresAt time.Time       `json:"expiresAt"`
}

// fileResponse is the content of response-<id>.json.
type fileResponse struct {
	Decision string
	Reason   string
	Digest   string // may be absent
}

// ServeFiles lets programs that share a directory decide. For every item it
// writes request-<id>.json there; a response-<id>.json whose decision is
// "approved" approves, anything else denies. Both files go when the item is
// settled, the request first. It returns when ctx ends.
func ServeFiles(ctx context.Context, q *Queue, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("escalation directory: %w", err)
	}
	items, changes := q.Subscribe(ctx)
	open := map[string]*fileItem{}
	for _, item := range items {
		open[item.ID] = &fileItem{Escalation: item}
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		for id, f := range open {
			if err := f.work(q, dir); err != nil {
				// A call that cannot be shown cannot be decided.
				_, _, _ = q.Decide(id, f.Digest, false, "files", err.Error())
			}
		}
		select {
		case c, ok := <-changes:
			if !ok && q.ended(ctx) {
				for id := range open {
					remove(dir, id)
				}
				return nil
			}
			if !ok {
				items, changes = q.Subscribe(ctx)
				open = keep(open, items, dir)
			}
			if c.Asked != nil {
				open[c.Asked.ID] = &fileItem{Escalation: *c.Asked}
			}
			if c.Settled != nil {
				delete(open, c.Settled.ID)
				remove(dir, c.Settled.ID)
			}
		case <-tick.C:
		}
	}
}

// keep replaces the list of open items, and removes the files of items that were settled
// while nobody was subscribed.
func keep(open map[string]*fileItem, items []Escalation, dir string) map[string]*fileItem {
	now := map[string]*fileItem{}
	for _, i := range items {
		if now[i.ID] = open[i.ID]; now[i.ID] == nil {
			now[i.ID] = &fileItem{Escalation: i}
		}
	}
	for id := range open {
		if now[id] == nil {
			remove(dir, id)
		}
	}
	return now
}

// fileItem is an item that is asked about by files.
type fileItem struct {
	Escalation
	written bool
	broken  int // how often its answer could not be understood
}

// work writes the request of an item, or looks for its answer.
func (f *fileItem) work(q *Queue, dir string) error {
	if !f.written {
		body, err := json.MarshalIndent(fileRequest{
			ID: f.ID, Server: f.Server, Tool: f.Tool, Arguments: f.Arguments, Reason: f.Reason,
			Rule: f.Rule, Digest: f.Digest, Effect: f.Effect, AskedAt: f.AskedAt, ExpiresAt: f.ExpiresAt,
		}, "", "  ")
		if err != nil {
			return err
		}
		f.written = true
		return wholefile.Write(requestName(dir, f.ID), append(jsonx.ASCII(body), '\n'), 0o600) // people look at it, too
	}
	r, err := readResponse(responseName(dir, f.ID))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		// The file may not be complete yet; the next look decides.
		if f.broken++; f.broken < 3 {
			return nil
		}
		r = fileResponse{Reason: "the answer could not be understood"}
	}
	if r.Digest == "" {
		r.Digest = f.Digest
	}
	a := Answer{Approve: r.Decision == "approved", Effect: f.Fingerprint(), By: "files", Reason: r.Reason}
	if _, _, err := q.Answer(f.ID, r.Digest, a); errors.Is(err, ErrDigest) {
		return errors.New("the answer was given for another call")
	}
	return nil
}

func readResponse(path string) (fileResponse, error) {
	var r fileResponse
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return r, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return r, errors.Join(errors.New("not a regular file"), err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxResponse))
	if err != nil {
		return r, err
	}
	// Names must match exactly and may not repeat: "Decision" decides nothing, and every
	// reader sees the same decision.
	members, err := jsonx.Split(data)
	if err != nil {
		return r, err
	}
	known := map[string]*string{"decision": &r.Decision, "reason": &r.Reason, "digest": &r.Digest}
	for _, m := range members {
		if to := known[m.Name]; to != nil {
			err = errors.Join(err, json.Unmarshal(m.Raw, to))
		}
	}
	return r, err
}

func requestName(dir, id string) string  { return filepath.Join(dir, "request-"+id+".json") }
func responseName(dir, id string) string { return filepath.Join(dir, "response-"+id+".json") }

func remove(dir, id string) {
	_ = os.Remove(requestName(dir, id))
	_ = os.Remove(responseName(dir, id))
}
