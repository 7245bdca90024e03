package worktree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Clone returns the source of a clone: our bare repository at dir, which mirrors the one at url, at
// a commit of one of its branches. The configuration in userHome names the author of commits.
func Clone(dir, userHome, url, commit string) (Source, error) {
	if strings.ContainsAny(dir, "\n\r:\"") {
		return Source{}, refuse("set IRONCURTAIN_CACHE to a directory without these characters", "the path %q has a line break, a colon or a quote, which git's files cannot contain", dir)
	}
	repo, err := gitx.Open(dir, gitx.Home{Dir: userHome, System: "/etc/gitconfig"})
	if err != nil {
		return Source{}, refuse("remove "+dir+"; it is made again when it is needed", "%s: %w", dir, err)
	}
	return Source{Top: url, Common: dir, Head: commit, repo: repo, cloned: true}, nil
}

// Lends reports whether the mirror still has the commit that the clone was made from.
func (t Tree) Lends(ctx context.Context) bool {
	_, err := t.person().run(ctx, "cat-file", "-e", t.Base+"^{commit}")
	return err == nil
}

// SaysPushed reports whether, according to the tree of a clone, its branch was pushed. An agent can
// fake that; only the remote knows.
func (p Place) SaysPushed(t Tree) bool {
	if !t.Cloned || !p.Made() {
		return false
	}
	tree, err := gitx.Open(p.Dir, gitx.Home{})
	if err != nil {
		return false
	}
	tip, err := tree.Ref(t.ref())
	if err != nil || tip == t.Base {
		return false
	}
	known, err := tree.Refs(remoteRefs)
	for _, id := range known {
		if err == nil && id == tip {
			return true
		}
	}
	return false
}

// remoteRefs are the branches of the remote, in the mirror and in a clone.
const remoteRefs = "refs/remotes/origin/"

// errNotPushed says why only the clone has its commits.
var errNotPushed = errors.New("they were not pushed")

// unpushed counts the commits of a clone's branch. It returns errNotPushed unless the remote had
// them when the mirror was last fetched.
func (p Place) unpushed(ctx context.Context, t Tree, tip string) (int, error) {
	count, err := p.keep(t).run(ctx, "rev-list", "--count", tip, "^"+t.Base)
	if err != nil {
		return 0, err
	}
	commits, err := strconv.Atoi(count)
	if err != nil {
		return 0, fmt.Errorf("count the commits: %w", err)
	}
	if _, err := t.person().run(ctx, "cat-file", "-e", tip+"^{commit}"); err != nil {
		return commits, errNotPushed
	}
	has, err := t.person().run(ctx, "for-each-ref", "--count=1", "--format=%(refname)", "--contains", tip, remoteRefs)
	if err == nil && has == "" {
		err = errNotPushed
	}
	return commits, err
}
