package preview

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// outgoing lists the commits that the remote lacks, as far as the workspace knows, and returns their
// summary.
func (d *draft) outgoing(ctx context.Context, repo *gitx.Repo, a pushArguments, branch, target string) string {
	source, tip, err := localRef(repo, a.Branch, branch)
	if err != nil {
		d.fail(err, "%s", branch)
		return branch
	}
	d.fact("tip", tip)
	seen, bases, err := lastSeen(repo, a.Remote, target)
	if err != nil {
		d.fail(err, "the commits of the remote are not known")
	}
	d.fact("seen", seen)
	d.fact("bases", strings.Join(bases, " "))
	if shallow, err := readFile(filepath.Join(repo.CommonDir, "shallow")); err == nil {
		d.fact("shallow", digest(shallow))
	}
	if d.brief {
		return source
	}
	o, err := borrow(repo)
	if err != nil {
		d.warn("the commits cannot be shown: %v", err)
		return source
	}
	defer func() { _ = o.close() }()
	list, more, err := o.commits(ctx, tip, bases)
	if err != nil {
		d.warn("the commits cannot be shown: %v", err)
		return fmt.Sprintf("%s (%.12s)", source, tip)
	}
	if seen == "" {
		d.note("%s is new at the remote, as far as this repository knows", target)
	} else {
		d.note("the remote's %s was last seen at %.12s; that is stored in the workspace, where the agent can change it", target, seen)
	}
	d.list(list)
	d.lostCommits(ctx, o, a, tip, seen)
	if more {
		d.warn("there are more commits than the %d listed", maxCommits)
		return fmt.Sprintf("more than %d commits of %s (%.12s)", maxCommits, source, tip)
	}
	return fmt.Sprintf("%s of %s (%.12s)", plural(len(list), "commit"), source, tip)
}

// localRef returns the local reference that a branch argument names.
func localRef(repo *gitx.Repo, given, branch string) (name, id string, err error) {
	candidates := []string{"refs/heads/" + branch}
	if given != "" {
		candidates = []string{"refs/tags/" + given, "refs/heads/" + given, "refs/remotes/" + given}
	}
	for _, full := range candidates {
		got, err := repo.Ref(full)
		if errors.Is(err, gitx.ErrNoRef) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		if id != "" {
			return "", "", fmt.Errorf("the name means both %s and %s", name, full)
		}
		name, id = full, got
	}
	if id == "" && branch == "" {
		got, err := repo.Ref("HEAD")
		return "HEAD", got, err
	}
	if id == "" {
		return "", "", errors.New("there is no such branch or tag here")
	}
	return name, id, nil
}

// lastSeen returns the commit of the remote's branch at the last contact, and all known commits of the
// remote's branches.
func lastSeen(repo *gitx.Repo, remote, target string) (seen string, bases []string, err error) {
	for _, name := range remoteNames(repo, remote) {
		refs, err := repo.Refs("refs/remotes/" + name + "/")
		if err != nil {
			return "", nil, err
		}
		for ref, id := range refs {
			bases = append(bases, id)
			if ref == "refs/remotes/"+name+"/"+strings.TrimPrefix(target, "refs/heads/") {
				seen = id
			}
		}
	}
	slices.Sort(bases)
	return seen, slices.Compact(bases), nil
}

// list adds commits with their files.
func (d *draft) list(commits []commit) {
	for _, c := range commits {
		d.add(Item, fmt.Sprintf("%.12s %s  (%s)", c.id, c.subject, c.author))
		for _, f := range c.files {
			d.add(File, fmt.Sprintf("%c %s", f.status, f.path))
		}
	}
}

// lostCommits lists the commits that a forced push would remove from the remote.
func (d *draft) lostCommits(ctx context.Context, o *objects, a pushArguments, tip, seen string) {
	if seen == "" || !a.Force && !a.Lease {
		return
	}
	gone, more, err := o.commits(ctx, seen, []string{tip})
	switch {
	case err != nil:
		d.warn("the commits that the remote would lose cannot be shown: %v", err)
	case len(gone) > 0:
		d.warn("the remote would lose %s%s:", plural(len(gone), "commit"), map[bool]string{true: " and more"}[more])
		d.list(gone)
	}
}

// tags lists the tags that --tags sends.
func (d *draft) tags(repo *gitx.Repo) {
	refs, err := repo.Refs("refs/tags/")
	if err != nil {
		d.fail(err, "the tags cannot be shown")
		return
	}
	var names []string
	for name, id := range refs {
		names = append(names, fmt.Sprintf("tag %s (%.12s)", strings.TrimPrefix(name, "refs/tags/"), id))
	}
	slices.Sort(names)
	for _, n := range names {
		d.fact("tag", n)
		d.add(Item, n)
	}
}
