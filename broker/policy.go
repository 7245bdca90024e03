package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// PolicyReview is a policy that was read again, compared with the one in force.
type PolicyReview struct {
	Hash       string   `json:"hash"`       // names it, for ApplyPolicy
	Difference []string `json:"difference"` // see policy.Files.Difference
	// Others are the sessions that have a profile: another policy changes nothing there.
	Others []SessionID `json:"others,omitempty"`
}

// reviewed is the policy that a person was shown.
type reviewed struct {
	files policy.Files
	hash  string
}

// difference says how a policy differs from that of new sessions, and from each one that is in
// force in a session without a profile.
func (b *Broker) difference(f policy.Files) (lines []string) {
	inForce := []policy.Files{b.deps().PolicyInForce()}
	b.mu.Lock()
	for _, s := range b.withoutProfile() {
		inForce = append(inForce, s.PolicyInForce())
	}
	b.mu.Unlock()
	compared := map[string]bool{} // by hash
	for _, old := range inForce {
		hash := old.Hash()
		if compared[hash] {
			continue
		}
		compared[hash] = true
		for _, line := range old.Difference(f) {
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// ReviewPolicy reads the policy again and says what would change. It changes nothing.
func (b *Broker) ReviewPolicy(context.Context) (PolicyReview, error) {
	load := b.settings.Load().config.LoadPolicy
	if load == nil {
		return PolicyReview{}, fault.New("name a directory as \"policy\" in config.json; a tab with a profile keeps its policy", "reload policy: the built-in policy is in force, which has no files")
	}
	f, err := load()
	if err != nil {
		return PolicyReview{}, fmt.Errorf("reload policy: %w", err)
	}
	r := &reviewed{f, f.Hash()}
	b.mu.Lock()
	b.review = r
	b.mu.Unlock()
	review := PolicyReview{Hash: r.hash, Difference: b.difference(f)}
	for _, s := range b.live() {
		if !s.Profile().IsZero() {
			review.Others = append(review.Others, s.ID())
		}
	}
	return review, nil
}

// ApplyPolicy puts a policy in force that was reviewed, for all sessions without a profile, or
// for none if it fails for one. It returns how many sessions that are.
func (b *Broker) ApplyPolicy(ctx context.Context, hash string) (int, error) {
	const op = "apply policy: "
	b.applying.Lock()
	defer b.applying.Unlock()
	b.mu.Lock()
	r, open := b.review, b.withoutProfile()
	b.mu.Unlock()
	if r == nil || r.hash != hash {
		return 0, fault.New("/policy reload shows it", op+"this policy was never shown, or was read again since then")
	}
	var ready []*session.Reload
	for _, s := range open {
		change, err := s.PrepareReload(r.files)
		if err != nil {
			return 0, fmt.Errorf(op+"nothing was changed, because of session %s: %w", s.ShortID(), err)
		}
		ready = append(ready, change)
	}
	for _, change := range ready {
		if err := change.Record(ctx); err != nil {
			return 0, fmt.Errorf(op+"nothing was changed, because it could not be recorded: %w", err)
		}
	}
	for _, s := range append(b.former, b.settings.Load()) {
		s.policy.Store(&r.files)
	}
	for _, change := range ready {
		change.Apply()
	}
	return len(ready), b.applyToNew(ctx, r.files, open)
}

// withoutProfile lists the sessions that have no profile. The caller holds mu.
func (b *Broker) withoutProfile() []*session.Session {
	return slices.DeleteFunc(slices.Clone(b.sessions), func(s *session.Session) bool { return !s.Profile().IsZero() })
}

// applyToNew puts the policy in force for sessions that were opened meanwhile. It ends one
// for which that fails.
func (b *Broker) applyToNew(ctx context.Context, f policy.Files, done []*session.Session) (err error) {
	known := map[*session.Session]bool{}
	for _, s := range done {
		known[s] = true
	}
	b.mu.Lock()
	open := b.withoutProfile()
	b.mu.Unlock()
	for _, s := range open {
		if known[s] {
			continue
		}
		change, failed := s.PrepareReload(f)
		if failed == nil {
			failed = change.Record(ctx)
		}
		if failed != nil {
			s.Stop()
			err = errors.Join(err, fmt.Errorf("session %s is ended, because the policy could not be applied to it: %w", s.ShortID(), failed))
			continue
		}
		change.Apply()
	}
	return err
}
