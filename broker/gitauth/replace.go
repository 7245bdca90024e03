package gitauth

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ApprovedCommit is what is known about a commit before a call makes it.
type ApprovedCommit struct {
	Message string
	Author  string   // "name <mail>"; "" means the person
	Amend   bool     // the commit replaces the one that HEAD names, and keeps its author
	Head    string   // the commit that HEAD named when the call was shown, or ""
	Tree    string   // the tree that was shown, or "" if it was not known
	Merges  []string // more parents, if the commit concludes a merge
}

// Replacer replaces the commits that a call makes by the same commits with signatures. It accesses
// the repository through the program of RepositoryArgv, which runs in a sandbox.
type Replacer struct {
	commits commits
	before  object // the commit that HEAD named before the call
	derived *derived
}

// lookNext is the hint for a commit that stays unsigned.
const lookNext = "look at the commit, then sign it yourself: git commit --amend -S"

// NewReplacer returns the Replacer for a program that has just started. Input and output are
// the program's.
func NewReplacer(in io.Writer, out *bufio.Reader) (*Replacer, error) {
	r := &Replacer{commits: commits{in, out}}
	var err error
	r.before, err = r.commits.show("HEAD")
	return r, err
}

// Replaced is a commit that was signed.
type Replaced struct{ Unsigned, Signed string }

// Replace signs the commit that was made since NewReplacer. It fails if the commit is not the
// approved one.
func (r *Replacer) Replace(ctx context.Context, s Signer, approved ApprovedCommit) ([]Replaced, error) {
	made, err := r.commits.show("HEAD")
	if err != nil {
		return nil, fault.Wrap("look at the new commit", err, lookNext)
	}
	if err := approved.check(r.before, made, s.who); err != nil {
		return nil, fault.New(lookNext, "the commit is not the approved one: %w", err)
	}
	return r.sign(ctx, s, []object{made})
}

// sign signs new commits, and then moves HEAD. The commits are in order: each is the first parent of
// the next.
func (r *Replacer) sign(ctx context.Context, s Signer, made []object) ([]Replaced, error) {
	const op = "store the signed commit"
	var all []Replaced
	for i, o := range made {
		data := o.data
		if i > 0 {
			before := all[i-1]
			data = bytes.Replace(data, []byte("\nparent "+before.Unsigned+"\n"), []byte("\nparent "+before.Signed+"\n"), 1)
		}
		signed, id, err := s.Sign(ctx, data)
		if err != nil {
			return nil, err
		}
		stored, err := r.commits.store(signed)
		if err != nil {
			return nil, fault.Wrap(op, err, lookNext)
		}
		if stored != id {
			return nil, fault.New(lookNext, "%s: git stored a different commit", op)
		}
		all = append(all, Replaced{o.id, id})
	}
	last := all[len(all)-1]
	return all, fault.Wrap(op, r.commits.move(last.Signed, last.Unsigned), lookNext)
}

// check fails if a commit is not the approved one. before is the commit that HEAD named before the
// call, and who is the person.
func (a ApprovedCommit) check(before, made object, who string) error {
	if made.id == before.id {
		return errors.New("HEAD names the same commit as before")
	}
	c, err := parseCommit(made.data)
	if err != nil {
		return err
	}
	var old commit
	if a.Amend {
		data, _ := withoutSignature(before.data)
		if old, err = parseCommit(data); err != nil {
			return fmt.Errorf("read the commit that it replaces: %w", err)
		}
	}
	author, _, _ := strings.Cut(c.author, "> ")
	committer, _, _ := strings.Cut(c.committer, "> ")
	wanted := who
	if a.Amend {
		wanted, _, _ = strings.Cut(old.author, "> ")
		wanted += ">"
	}
	if a.Author != "" {
		wanted = a.Author
	}
	parents := old.parents
	if !a.Amend && before.id != "" {
		parents = append([]string{before.id}, a.Merges...)
	}
	switch {
	case a.Head != "" && a.Head != before.id:
		return errors.New("HEAD was moved after the approval")
	case !slices.Equal(c.parents, parents):
		return errors.New("HEAD is not one new commit on top of the former HEAD")
	case a.Tree != "" && c.tree != a.Tree:
		return errors.New("the files are not those that were shown")
	case cleanMessage(c.message) != cleanMessage(a.Message):
		return errors.New("the message is different")
	case committer+">" != who:
		return fmt.Errorf("the committer is %q, and in your own configuration you are %q", committer+">", who)
	case author+">" != wanted:
		return fmt.Errorf("the author is %q instead of %q", author+">", wanted)
	}
	return nil
}

// cleanMessage returns a message as git stores it: without space at the ends of lines, without empty
// lines at the beginning and the end, and with one empty line in place of several.
func cleanMessage(message string) string {
	var lines []string
	for line := range strings.SplitSeq(message, "\n") {
		line = strings.TrimRight(line, " \t\v\f\r")
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
