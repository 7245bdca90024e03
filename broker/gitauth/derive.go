package gitauth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Derivation says how a call makes commits from other commits.
type Derivation struct {
	Kind    DerivationKind
	Sources []string // the merged or picked revisions; for a rebase the upstream, and optionally the new base
	Message string   // of a merge; "" means git's own message
	Signoff bool     // the messages end with the person's Signed-off-by
	// Mainline is the number, from 1, of the parent with which a picked merge is compared. 0 means
	// that no merge is picked.
	Mainline int
}

// DerivationKind is a way to make commits from other commits.
type DerivationKind int

// The kinds whose commits the host can sign.
const (
	Merge DerivationKind = iota + 1
	Pick
	Rebase
)

// maxDerived bounds how many commits of one call are signed.
const maxDerived = 64

// derived is what is known before a call about the commits that the call makes from others.
type derived struct {
	Derivation
	sources []object // in the order in which the call uses them
	onto    string   // the commit on top of which the new ones come
}

// Expect notes from which commits a call is about to make new ones, and how. ReplaceDerived
// compares the new commits with that.
func (r *Replacer) Expect(d Derivation) error {
	const op = "read the source commits of the call"
	known := &derived{Derivation: d, onto: r.before.id}
	revisions := d.Sources
	if d.Kind == Rebase {
		onto, err := r.commits.show(d.Sources[len(d.Sources)-1])
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		known.onto = onto.id
		if revisions, err = r.commits.list(d.Sources[0] + "..HEAD"); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	if len(revisions) > maxDerived {
		return fmt.Errorf("%s: there are more than %d commits", op, maxDerived)
	}
	for _, revision := range revisions {
		source, err := r.commits.show(revision)
		if err == nil && source.id == "" {
			err = fmt.Errorf("there is no commit %s", revision)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		known.sources = append(known.sources, source)
	}
	r.derived = known
	return nil
}

// ReplaceDerived signs the commits that were made since Expect, if there are any. It makes their
// trees again and compares these and everything else. It fails if a commit is not what the call
// should have made.
func (r *Replacer) ReplaceDerived(ctx context.Context, s Signer) ([]Replaced, error) {
	made, err := r.newCommits()
	if err == nil && len(made) > 0 {
		err = r.checkDerived(made, s.who)
	}
	if err != nil {
		return nil, fault.New(lookNext, "the new commits are not what the call should have made: %w", err)
	}
	if len(made) == 0 {
		return nil, nil
	}
	return r.sign(ctx, s, made)
}

// newCommits returns the commits that the call has made, the oldest first. There are none if git has
// only moved HEAD to a commit that existed before.
func (r *Replacer) newCommits() (made []object, err error) {
	known := r.derived
	for next := "HEAD"; ; {
		o, err := r.commits.show(next)
		if err != nil {
			return nil, err
		}
		there := func(s object) bool { return s.id == o.id }
		if o.id == known.onto || o.id == r.before.id || slices.ContainsFunc(known.sources, there) {
			if len(made) > 0 && o.id != known.onto {
				return nil, errors.New("the new commits are not on top of the expected commit")
			}
			slices.Reverse(made)
			return made, nil
		}
		if len(made) == maxDerived {
			return nil, fmt.Errorf("there are more than %d new commits", maxDerived)
		}
		c, err := parseCommit(o.data)
		if err != nil {
			return nil, err
		}
		if len(c.parents) == 0 {
			return nil, errors.New("the new commits are not on top of the expected commit")
		}
		made, next = append(made, o), c.parents[0]
	}
}

// checkDerived fails if commits are not what the call should have made.
func (r *Replacer) checkDerived(made []object, who string) error {
	known := r.derived
	left := known.sources
	for _, o := range made {
		c, err := parseCommit(o.data)
		if err != nil {
			return err
		}
		if committer, _, _ := strings.Cut(c.committer, "> "); committer+">" != who {
			return fmt.Errorf("the committer is %q, and in your own configuration you are %q", committer+">", who)
		}
		if known.Kind == Merge {
			if len(made) > 1 {
				return errors.New("there are several new commits, but a merge makes only one")
			}
			return r.checkMerge(c, who)
		}
		n, why := 0, errors.New("there are more new commits than source commits")
		for _, source := range left { // a rebase leaves out changes that the new base already has
			n++
			if why = r.checkPicked(c, source, who); why == nil || known.Kind == Pick {
				break
			}
		}
		if why != nil {
			return why
		}
		left = left[n:]
	}
	if known.Kind == Pick && len(left) > 0 {
		return errors.New("some commits are missing")
	}
	return nil
}

// checkMerge fails if a commit is not the merge of the former HEAD and the source.
func (r *Replacer) checkMerge(c commit, who string) error {
	known := r.derived
	theirs := known.sources[0].id
	if !slices.Equal(c.parents, []string{r.before.id, theirs}) {
		return errors.New("the merge has other parents")
	}
	if author, _, _ := strings.Cut(c.author, "> "); author+">" != who {
		return fmt.Errorf("the author is %q instead of %q", author+">", who)
	}
	if known.Message != "" && cleanMessage(c.message) != cleanMessage(known.Message) || known.Message == "" && !mergeMessage(c.message, known.Sources[0]) {
		return errors.New("the merge has a different message")
	}
	tree, err := r.commits.tree("merge", r.before.id, theirs)
	if err != nil {
		return err
	}
	return sameTree(c.tree, tree)
}

// mergeMessage reports whether git makes this message for a merge of a name.
func mergeMessage(message, name string) bool {
	line, rest, _ := strings.Cut(message, "\n")
	line, _, _ = strings.Cut(line, " into ")
	for _, kind := range []string{"branch", "commit", "tag", "remote-tracking branch"} {
		for _, prefix := range []string{"", "refs/heads/", "heads/", "refs/tags/", "tags/", "refs/remotes/", "remotes/"} {
			short, found := strings.CutPrefix(name, prefix)
			if found && line == "Merge "+kind+" '"+short+"'" && rest == "" {
				return true
			}
		}
	}
	return false
}

// checkPicked fails if a commit is not the change of a source on top of the commit's parent.
func (r *Replacer) checkPicked(c commit, source object, who string) error {
	if len(c.parents) != 1 {
		return errors.New("one of the new commits is a merge")
	}
	data, _ := withoutSignature(source.data)
	s, err := parseCommit(data)
	if err != nil {
		return fmt.Errorf("%s: %w", source.id, err)
	}
	line := max(r.derived.Mainline, 1)
	switch {
	case len(s.parents) < line || r.derived.Mainline == 0 && len(s.parents) != 1:
		return fmt.Errorf("%s must have exactly one parent, or the parent that the call names", source.id)
	case c.author != s.author:
		return fmt.Errorf("the author of %s has changed", source.id)
	case !r.derived.sameMessage(c.message, s.message, who):
		return fmt.Errorf("the message of %s has changed", source.id)
	}
	var trees []string
	for _, id := range []string{s.parents[line-1], c.parents[0]} {
		parent, err := r.treeOf(id)
		if err != nil {
			return err
		}
		trees = append(trees, parent)
	}
	tree, err := r.commits.tree("apply", trees[0], trees[1], s.tree)
	if err != nil {
		return err
	}
	return sameTree(c.tree, tree)
}

// treeOf returns the tree of a commit, which may be signed.
func (r *Replacer) treeOf(id string) (string, error) {
	o, err := r.commits.show(id)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(o.data), "\n")
	tree, found := strings.CutPrefix(first, "tree ")
	if !found || !isID(tree) {
		return "", fmt.Errorf("%s is malformed", id)
	}
	return tree, nil
}

// sameMessage reports whether the call makes this message from the message of a source.
func (d *derived) sameMessage(message, source, who string) bool {
	message, source = cleanMessage(message), cleanMessage(source)
	if d.Signoff {
		line := "Signed-off-by: " + who
		if rest, found := strings.CutSuffix(message, "\n"+line); found {
			message, source = strings.TrimRight(rest, "\n"), strings.TrimSuffix(source, "\n"+line)
		}
	}
	return message == source
}

// sameTree fails if the tree of a commit is not the one that it should have.
func sameTree(has, wanted string) error {
	switch {
	case wanted == "":
		return errors.New("git cannot make the same files again, which needs git 2.38 and no conflicts")
	case has != wanted:
		return errors.New("a new commit has other files than it should")
	}
	return nil
}
