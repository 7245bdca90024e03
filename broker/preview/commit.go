package preview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// commitArguments are the arguments of a tool of the git server that makes a commit.
type commitArguments struct {
	Path         string   `json:"path"`
	Amend        bool     `json:"amend"`
	FilesToStage []string `json:"filesToStage"`
}

// commit returns the effect of committing the staged files.
func (p *Previewer) commit(ctx context.Context, a commitArguments) *Effect {
	d := p.newDraft(Commit)
	repo, err := gitx.Open(a.Path, p.home())
	if err != nil {
		d.fail(err, "the files to be committed cannot be shown")
		return d.done("commits the staged files")
	}
	if d.Head, err = repo.Ref("HEAD"); err != nil && !errors.Is(err, gitx.ErrNoRef) {
		d.fail(err, "the commit of HEAD cannot be shown")
	}
	d.fact("head", d.Head)
	d.mergeHeads(repo)
	d.fact("branch", repo.Branch())
	for _, name := range a.FilesToStage {
		d.note("stages %s first, with its content at that time", name)
	}
	files, err := d.staged(ctx, repo, a)
	if err != nil {
		d.fail(err, "the staged files cannot be shown")
		return d.done("commits the staged files")
	}
	if len(a.FilesToStage) > 0 {
		d.Tree = "" // staging changes it
	}
	for _, f := range files {
		d.add(File, fmt.Sprintf("%c %s", f.status, f.path))
	}
	where := repo.Branch()
	if where == "" {
		where = "no branch"
	}
	verb := "commits"
	if a.Amend {
		verb = fmt.Sprintf("replaces %.12s by", d.Head)
	}
	return d.done("%s %s on %s", verb, plural(len(files), "staged file"), where)
}

// mergeHeads adds the commits that an unfinished merge brings in.
func (d *draft) mergeHeads(repo *gitx.Repo) {
	data, err := readFile(filepath.Join(repo.GitDir, "MERGE_HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		d.fail(err, "the merge that the commit would conclude cannot be shown")
		return
	}
	const most = 16
	heads := strings.Fields(string(data))
	if len(heads) > most {
		d.warn("concludes a merge of %d commits, too many to show", len(heads))
		return
	}
	d.Merges = heads
	for _, id := range heads {
		d.note("concludes the merge of %.12s", id)
		d.fact("merges", id)
	}
}

// staged sets the tree of the staged files, and lists the files that differ from the parent of the new
// commit. Git reads a copy of the index, in a repository of our own.
func (d *draft) staged(ctx context.Context, repo *gitx.Repo, a commitArguments) ([]fileChange, error) {
	index, err := readFile(filepath.Join(repo.GitDir, "index"))
	if err != nil {
		return nil, err
	}
	o, err := borrow(repo)
	if err != nil {
		return nil, err
	}
	defer func() { _ = o.close() }()
	if err := os.WriteFile(filepath.Join(o.dir, "index"), index, 0o600); err != nil {
		return nil, err
	}
	tree, err := o.git(ctx, "", "write-tree")
	if err != nil {
		return nil, err
	}
	d.Tree = strings.TrimSpace(string(tree))
	d.fact("tree", d.Tree)
	if d.brief {
		return nil, nil
	}
	parents := []string{d.Head}
	if a.Amend && d.Head != "" {
		out, err := o.git(ctx, "", "rev-list", "--parents", "--max-count=1", d.Head)
		if err != nil {
			return nil, err
		}
		parents = strings.Fields(string(out))[1:]
	}
	args := []string{"-c", "user.name=x", "-c", "user.email=x", "commit-tree", d.Tree}
	for _, parent := range slices.DeleteFunc(parents, func(id string) bool { return id == "" }) {
		args = append(args, "-p", parent)
	}
	made, err := o.git(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	one := []commit{{id: strings.TrimSpace(string(made))}}
	err = o.changes(ctx, one)
	return one[0].files, err
}
