package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxCommits is how many commits are listed.
const maxCommits = 200

// maxCommit is the largest commit object that is read, in bytes.
const maxCommit = 64 << 10

// commit is a commit as it is shown.
type commit struct {
	id      string
	author  string
	subject string
	files   []fileChange
}

// fileChange is a file that a commit touches.
type fileChange struct {
	status byte // A added, M changed, D deleted, T another type
	path   string
}

// commits lists the commits that are reachable from a tip but not from the bases, newest first, at most
// maxCommits. more reports that there are more.
func (o *objects) commits(ctx context.Context, tip string, bases []string) (list []commit, more bool, err error) {
	args := "--max-count=" + strconv.Itoa(maxCommits+1)
	input := tip + "\n"
	known, err := o.known(ctx, bases)
	if err != nil {
		return nil, false, err
	}
	for _, b := range known {
		input += "^" + b + "\n"
	}
	out, err := o.git(ctx, input, "rev-list", args, "--stdin")
	if err != nil {
		return nil, false, err
	}
	ids := strings.Fields(string(out))
	if more = len(ids) > maxCommits; more {
		ids = ids[:maxCommits]
	}
	if len(ids) == 0 {
		return nil, false, nil
	}
	if list, err = o.headers(ctx, ids); err != nil {
		return nil, false, err
	}
	return list, more, o.changes(ctx, list)
}

// known returns those ids that are commits of this repository.
func (o *objects) known(ctx context.Context, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := o.git(ctx, strings.Join(ids, "\n")+"\n", "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	var have []string
	for line := range strings.Lines(string(out)) {
		if id, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind == "commit" {
			have = append(have, id)
		}
	}
	return have, nil
}

// headers reads the commits themselves.
func (o *objects) headers(ctx context.Context, ids []string) ([]commit, error) {
	sizes, err := o.git(ctx, strings.Join(ids, "\n")+"\n", "cat-file", "--batch-check=%(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(sizes)) {
		kind, size, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(size); kind != "commit" || err != nil || n > maxCommit {
			return nil, fmt.Errorf("a commit is missing, or larger than %d KiB", maxCommit>>10)
		}
	}
	out, err := o.git(ctx, strings.Join(ids, "\n")+"\n", "cat-file", "--batch=%(objectname) %(objectsize)")
	if err != nil {
		return nil, err
	}
	list := make([]commit, 0, len(ids))
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		id, size, _ := strings.Cut(string(head), " ")
		n, err := strconv.Atoi(size)
		if !ok || err != nil || n < 0 || n >= len(rest) {
			return nil, errors.New("a commit cannot be read")
		}
		list = append(list, parseCommit(id, rest[:n]))
		out = rest[n+1:]
	}
	return list, nil
}

// parseCommit returns a commit's author and subject.
func parseCommit(id string, data []byte) commit {
	head, message, _ := strings.Cut(string(data), "\n\n")
	c := commit{id: id}
	for line := range strings.SplitSeq(head, "\n") {
		if who, ok := strings.CutPrefix(line, "author "); ok {
			if i := strings.LastIndex(who, "> "); i >= 0 {
				who = who[:i+1]
			}
			c.author = who
		}
	}
	c.subject, _, _ = strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	return c
}

// changes lists the files that each commit changes, compared with its first parent.
func (o *objects) changes(ctx context.Context, list []commit) error {
	var input strings.Builder
	at := map[string]*commit{}
	for i := range list {
		fmt.Fprintln(&input, list[i].id)
		at[list[i].id] = &list[i]
	}
	out, err := o.git(ctx, input.String(), "diff-tree", "--stdin", "-z", "-r", "--raw", "--no-renames", "--root",
		"--diff-merges=first-parent", "--no-ext-diff", "--no-textconv")
	if err != nil {
		return err
	}
	var c *commit
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i < len(fields); i++ {
		field := fields[i]
		if next := at[strings.TrimSpace(field)]; next != nil {
			c = next
			continue
		}
		if !strings.HasPrefix(field, ":") || c == nil || i+1 == len(fields) {
			if field == "" {
				continue
			}
			return errors.New("the changes of the commits cannot be read")
		}
		i++
		c.files = append(c.files, fileChange{field[len(field)-1], fields[i]})
	}
	return nil
}
