package gitauth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ApprovedCommit is what is known of a commit before a call makes it.
type ApprovedCommit struct {
	Message string
	Author  string   // "name <mail>"; empty: the person
	Amend   bool     // it replaces the commit that HEAD names, and keeps the author
	Head    string   // the commit that HEAD named when the call was shown; empty: nothing was shown
	Tree    string   // the tree that was shown; empty: it was not known
	Merges  []string // its further parents, if it concludes a merge
}

// Replacer replaces the commit that HEAD names by the same commit with a signature. Git does
// this in a sandbox with a shell script of ours, and the script talks with this process.
type Replacer struct {
	in     io.WriteCloser
	out    *bufio.Reader
	before object // what HEAD named before the call
}

// replaceScript prints the object that HEAD names. For a line of input it prints the object
// again. For a line with the object's id and a commit after it, it stores the commit, moves
// HEAD from the object to the commit, and prints the commit's id. With a reference that has
// moved by then, it fails.
const replaceScript = `cd "$1" || exit 1
export GIT_NO_REPLACE_OBJECTS=1 GIT_TERMINAL_PROMPT=0
git() { command git -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"; }
echo HEAD | git cat-file --batch || exit 1
read -r word || exit 0
echo HEAD | git cat-file --batch || exit 1
read -r old || exit 0
new=$(git hash-object -w -t commit --stdin) && git update-ref -m 'commit: signed' HEAD "$new" "$old" && echo "$new"`

// ReplacerArgv is the program for the sandbox; dir is the repository.
func ReplacerArgv(dir string) []string {
	return []string{"/bin/sh", "-c", replaceScript, "sh", dir}
}

// NewReplacer returns the Replacer for a program that has just started. Input and output are
// the program's.
func NewReplacer(in io.WriteCloser, out *bufio.Reader) (*Replacer, error) {
	r := &Replacer{in: in, out: out}
	var err error
	r.before, err = r.read()
	return r, err
}

// Replace signs the commit that was made since NewReplacer, and returns the ids of the commit
// without and with the signature. It fails if the commit is not the approved one.
func (r *Replacer) Replace(ctx context.Context, s Signer, approved ApprovedCommit) (unsigned, signed string, err error) {
	const next = "look at it, then sign it yourself: git commit --amend -S"
	if _, err = io.WriteString(r.in, "\n"); err != nil {
		return "", "", fault.Wrap("look at the new commit", err, next)
	}
	made, err := r.read()
	if err != nil {
		return "", "", fault.Wrap("look at the new commit", err, next)
	}
	if err := approved.check(r.before, made, s.who); err != nil {
		return "", "", fault.New(next, "the commit is not the approved one: %w", err)
	}
	data, signed, err := s.Sign(ctx, made.data)
	if err != nil {
		return "", "", err
	}
	_, err = io.WriteString(r.in, made.id+"\n"+string(data))
	if err = errors.Join(err, r.in.Close()); err != nil {
		return "", "", fault.Wrap("store the signed commit", err, next)
	}
	line, err := r.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != signed {
		return "", "", fault.New(next, "store the signed commit: git did not, or HEAD has moved meanwhile")
	}
	return made.id, signed, nil
}

// object is a commit of the repository; the zero value means that there is none.
type object struct {
	id   string
	data []byte
}

// read reads one answer of git cat-file --batch.
func (r *Replacer) read() (object, error) {
	head, err := r.out.ReadSlice('\n') // bounded by the buffer
	if err != nil {
		return object{}, fmt.Errorf("git does not answer: %w", err)
	}
	fields := strings.Fields(string(head))
	if len(fields) == 2 && fields[1] == "missing" {
		return object{}, nil // before the first commit
	}
	if len(fields) != 3 || !isID(fields[0]) || fields[1] != "commit" {
		return object{}, errors.New("HEAD is not a commit")
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size > maxCommit {
		return object{}, fmt.Errorf("the commit has more than %d bytes", maxCommit)
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(r.out, data); err != nil {
		return object{}, fmt.Errorf("git does not answer: %w", err)
	}
	return object{fields[0], data[:size]}, nil
}

// check returns why a commit is not the approved one. before is what HEAD named before the
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
			return fmt.Errorf("the commit that it replaces: %w", err)
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
		return errors.New("HEAD is not one new commit on what it was before")
	case a.Tree != "" && c.tree != a.Tree:
		return errors.New("it has other files than those that were shown")
	case cleanMessage(c.message) != cleanMessage(a.Message):
		return errors.New("it has another message")
	case committer+">" != who:
		return fmt.Errorf("the committer is %q, and in your own configuration you are %q", committer+">", who)
	case author+">" != wanted:
		return fmt.Errorf("the author is %q instead of %q", author+">", wanted)
	}
	return nil
}

// cleanMessage is what git makes of a message that is given to it: without space at the ends
// of lines, without empty lines at both ends, and with one empty line for several.
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
