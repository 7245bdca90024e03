package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// judge judges a version.
func (x *exchange) judge(f *Facts, v *Version) (Package, Verdict) {
	p := Package{Origin: x.origin, Facts: f, Version: v}
	p.Pinned = x.s.config.Pinned != nil && x.s.config.Pinned(x.origin.Ecosystem, f.Name, v.Version)
	return p, x.s.config.Judge(p)
}

// document answers with a document without the versions that are held back.
func (x *exchange) document(ctx context.Context) error {
	f, err := x.facts(ctx)
	if err != nil {
		return err
	}
	hidden := make(map[string]bool)
	for i := range f.Versions {
		v := &f.Versions[i]
		p, verdict := x.judge(f, v)
		if verdict.Hide && !p.Pinned && !x.s.holds.approved(&p) || verdict.Then == Deny {
			hidden[v.Version] = true
		}
	}
	x.rec.Hidden = len(hidden)
	return x.sendDocument(f, hidden)
}

// sendDocument sends a document, or 304 if the client has it already.
func (x *exchange) sendDocument(f *Facts, hidden map[string]bool) error {
	written, err := x.write(f, hidden)
	if err != nil {
		return err
	}
	kind := x.ask.Type
	if kind == "" {
		kind = f.Document.Type
	}
	fields := []Field{{"Content-Type", kind}, {"ETag", written.tag}, {"Cache-Control", "no-cache"}}
	if len(hidden) > 0 {
		fields[2].Value = "no-store" // npm prints a notice of such answers only
		fields = append(fields, Field{"npm-notice", fmt.Sprintf("the person's rules for new packages hide %s of %s; request_package asks for one", text.Counted(len(hidden), "version"), line(f.Name))})
	}
	x.begun = true
	x.rec.Bytes = int64(len(written.body))
	x.served(f.Name, f.Versions...)
	if x.s.config.Delivered != nil && x.ask.Name != "" {
		x.s.config.Delivered(x.origin, f)
	}
	if x.r.IfNoneMatch == written.tag {
		err = x.w.Start(304, "Not Modified", fields[1:], 0)
	} else if err = x.w.Start(200, "OK", fields, int64(len(written.body))); err == nil {
		_, err = x.w.Write(written.body)
	}
	if err == nil {
		x.ended("done", ReasonAllowed, "")
	}
	return err
}

// plain answers with a document that names no version.
func (x *exchange) plain(ctx context.Context) error {
	f, err := x.facts(ctx)
	if err != nil {
		return err
	}
	return x.sendDocument(f, nil)
}

// written is a document as agents get it. It is read-only.
type written struct {
	hidden string // the versions that it leaves out
	body   []byte
	tag    string
}

// write writes a document without the hidden versions. Requests for the same document share its
// bytes while its facts are fresh.
func (x *exchange) write(f *Facts, hidden map[string]bool) (*written, error) {
	key := strings.Join(slices.Sorted(maps.Keys(hidden)), "\n")
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.written; w != nil && w.hidden == key {
		return w, nil
	}
	var body bytes.Buffer
	if n := len(f.Document.Data); n > largeBytes {
		body.Grow(n) // most of it is copied, and growing would hold it twice
	}
	if err := x.ecosystem.Write(&body, f, x.ask, func(version string) bool { return hidden[version] }); err != nil {
		return nil, err
	}
	if err := x.s.plane.keepSecrets(body.Bytes()); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body.Bytes())
	f.written = &written{key, body.Bytes(), `"` + hex.EncodeToString(sum[:16]) + `"`}
	return f.written, nil
}
