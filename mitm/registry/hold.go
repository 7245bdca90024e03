package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// holds are the artifacts of one session that wait for a person, and the answers. Artifacts
// that begin to wait at about the same time form a wave: one question with one answer. An
// answer applies to the same bytes until the session ends.
type holds struct {
	s      *Session
	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // waves

	mu      sync.Mutex
	forming *wave
	byKey   map[string]*wave  // the waiting ones, by Package.key
	answers map[string]answer // by Package.key
	visible map[string]bool   // versions that were approved
}

// answer is a person's decision about some bytes.
type answer struct {
	decision Decision
	about    Denied
}

// wave is what is asked about in one question.
type wave struct {
	packages []Package
	waiting  int           // requests
	idle     *time.Timer   // runs while no request waits
	done     chan struct{} // closed when there is an answer
	decision Decision
	err      error
}

func newHolds(s *Session) *holds {
	h := &holds{s: s, byKey: make(map[string]*wave), answers: make(map[string]answer), visible: make(map[string]bool)}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

func (h *holds) close() {
	h.cancel(errors.New("the session ends"))
	h.wg.Wait()
}

// key identifies bytes; a decision applies only to these.
func (p *Package) key() string { return p.version() + "\n" + p.Sum }

func (p *Package) version() string {
	return p.Origin.URL.String() + "\n" + p.Facts.Name + "\n" + p.Version.Version
}

// approved reports whether a person has approved an artifact of the version.
func (h *holds) approved(p *Package) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.visible[p.version()]
}

// ask waits until a person has decided about the bytes of a package. When ctx ends, the question
// stays for Limits.Patience, so that a client that retries finds it.
func (h *holds) ask(ctx context.Context, p Package) (Decision, error) {
	w, decided, err := h.join(p)
	if err != nil || decided != nil {
		if err != nil {
			return Decision{}, err
		}
		return *decided, nil
	}
	defer h.leave(w)
	select {
	case <-w.done:
		return w.decision, w.err
	case <-ctx.Done():
		return Decision{}, fmt.Errorf("wait for a person: %w", context.Cause(ctx))
	}
}

// join adds a package to the wave in which it already waits, or to the one that is forming.
func (h *holds) join(p Package) (*wave, *Decision, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := p.key()
	if a, is := h.answers[key]; is {
		return nil, &a.decision, nil
	}
	w := h.byKey[key]
	if w == nil {
		if len(h.byKey) >= h.s.plane.limits.Waiting {
			return nil, nil, Refuse(429, ReasonLimit, "%d packages wait for a person already", len(h.byKey))
		}
		if h.ctx.Err() != nil {
			return nil, nil, Refuse(503, ReasonLimit, "the session ends")
		}
		if w = h.forming; w == nil {
			w = h.begin()
		}
		w.packages = append(w.packages, p)
		h.byKey[key] = w
	}
	w.waiting++
	w.idle.Stop()
	return w, nil, nil
}

// leave is called when a request stops waiting.
func (h *holds) leave(w *wave) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.waiting--; w.waiting == 0 {
		w.idle.Reset(h.s.plane.limits.Patience)
	}
}

// begin starts a wave, which asks when it is complete. The caller holds the lock.
func (h *holds) begin() *wave {
	ctx, cancel := context.WithCancel(h.ctx)
	w := &wave{done: make(chan struct{}), idle: time.AfterFunc(time.Hour, cancel)}
	h.forming = w
	h.wg.Go(func() {
		defer cancel()
		sealed := time.NewTimer(h.s.plane.limits.Wave)
		defer sealed.Stop()
		select {
		case <-sealed.C:
		case <-ctx.Done():
		}
		h.mu.Lock()
		h.forming = nil
		packages := w.packages // it is complete now
		h.mu.Unlock()
		decision, err := h.s.config.Ask(ctx, packages)
		h.settle(w, decision, err)
	})
	return w
}

// settle stores the decision about a wave and releases its requests.
func (h *holds) settle(w *wave, d Decision, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.idle.Stop()
	w.decision, w.err = d, err
	if err != nil {
		w.err = Refuse(403, ReasonDenied, "nobody could be asked: %s", line(err.Error()))
	}
	for i := range w.packages {
		p := &w.packages[i]
		delete(h.byKey, p.key())
		if err == nil && (d.Outcome == "approved" || d.Outcome == "denied") {
			h.answers[p.key()] = answer{d, Denied{p.Origin.Ecosystem, p.Facts.Name, p.Version.Version}}
		}
		if err == nil && d.Approved {
			h.visible[p.version()] = true
		}
	}
	close(w.done)
}

// Denied is a version that a person has denied.
type Denied struct {
	Ecosystem, Name, Version string
}

// String returns what a person types: "npm:left@2.1.0".
func (d Denied) String() string { return d.Ecosystem + ":" + d.Name + "@" + d.Version }

// Denied lists the versions that the person has denied, in order.
func (s *Session) Denied() []Denied {
	h := s.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []Denied
	for _, a := range h.answers {
		if !a.decision.Approved && !slices.Contains(all, a.about) {
			all = append(all, a.about)
		}
	}
	slices.SortFunc(all, func(a, b Denied) int {
		return strings.Compare(a.String(), b.String())
	})
	return all
}

// Release forgets that the person has denied a version, named by its String, so that the next
// request for it asks again. It returns false if there is no such version.
func (s *Session) Release(version string) bool {
	h := s.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.answers)
	maps.DeleteFunc(h.answers, func(_ string, a answer) bool { return !a.decision.Approved && a.about.String() == version })
	return len(h.answers) < before
}

// Waiting returns how many artifacts wait for a person.
func (s *Session) Waiting() int {
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	return len(s.holds.byKey)
}
