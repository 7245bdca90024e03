package gitauth

import (
	"path/filepath"
	"strings"
	"testing"
)

// derivation is a repository with two branches: on main a file "m" changes, and on side a file
// "s" is made by another person in two commits.
type derivation struct {
	t   *testing.T
	dir string
	s   Signer
}

func newDerivation(t *testing.T) *derivation {
	t.Helper()
	w := newWorld(t)
	d := &derivation{t: t, dir: filepath.Join(w.workspace, "repo"), s: sshSigner(t, w)}
	run(t, "git", "init", "-q", d.dir)
	d.commit("base", "m", "1\n2\n3\n4\n5\n6\n7\n")
	d.git("branch", "side")
	d.commit("main goes on", "m", "1\n2\n3\n4\n5\n6\n7\n8\n")
	d.git("checkout", "-q", "side")
	d.commit("side, first\n\nwith a body", "s", "s\n", "--author=B <b@example.com>", "--date=2001-02-03T04:05:06+0700")
	d.commit("side, second", "m", "0\n1\n2\n3\n4\n5\n6\n7\n")
	d.git("checkout", "-q", "main")
	d.git("tag", "start")
	return d
}

// git runs git as the agent's server does: it signs nothing.
func (d *derivation) git(argv ...string) string {
	d.t.Helper()
	return strings.TrimSpace(run(d.t, append([]string{"git", "-C", d.dir, "-c", "commit.gpgSign=false"}, argv...)...))
}

func (d *derivation) commit(message, name, text string, more ...string) {
	d.t.Helper()
	write(d.t, filepath.Join(d.dir, name), text, 0o600)
	d.git("add", name)
	d.git(append([]string{"commit", "-qm", message}, more...)...)
}

// derive makes a call between the two parts of a Replacer.
func (d *derivation) derive(how Derivation, call func()) ([]Replaced, error) {
	d.t.Helper()
	r := replacer(d.t, d.dir)
	if err := r.Expect(how); err != nil {
		return nil, err
	}
	call()
	return r.ReplaceDerived(d.t.Context(), d.s)
}

// reset brings everything back to the beginning.
func (d *derivation) reset() {
	d.t.Helper()
	d.git("checkout", "-q", "-f", "main")
	d.git("reset", "-q", "--hard", "start")
}

// Commits that git makes of others are signed, and no others.
func TestDerivedCommitsAreSigned(t *testing.T) {
	d := newDerivation(t)
	for name, c := range map[string]struct {
		how    Derivation
		call   []string
		signed int
	}{
		"merge":            {Derivation{Kind: Merge, Sources: []string{"side"}}, []string{"merge", "-q", "side"}, 1},
		"merge, a message": {Derivation{Kind: Merge, Sources: []string{"side"}, Message: "mine\n\n"}, []string{"merge", "-q", "-m", "mine", "side"}, 1},
		"merge by id":      {Derivation{Kind: Merge, Sources: []string{d.git("rev-parse", "side")}}, []string{"merge", "-q", d.git("rev-parse", "side")}, 1},
		"fast-forward":     {Derivation{Kind: Merge, Sources: []string{"ahead"}}, []string{"merge", "-q", "ahead"}, 0},
		"merged already":   {Derivation{Kind: Merge, Sources: []string{"start"}}, []string{"merge", "-q", "start"}, 0},
		"pick two":         {Derivation{Kind: Pick, Sources: []string{"side^", "side"}}, []string{"cherry-pick", "side^", "side"}, 2},
		"pick, sign off":   {Derivation{Kind: Pick, Sources: []string{"side"}, Signoff: true}, []string{"cherry-pick", "--signoff", "side"}, 1},
		"pick a merge":     {Derivation{Kind: Pick, Sources: []string{"merged"}, Mainline: 1}, []string{"cherry-pick", "-m1", "merged"}, 1},
		"rebase":           {Derivation{Kind: Rebase, Sources: []string{"side"}}, []string{"rebase", "-q", "side"}, 1},
		"rebase the other": {Derivation{Kind: Rebase, Sources: []string{"main"}}, []string{"rebase", "-q", "main"}, 2},
		"rebase, dropped":  {Derivation{Kind: Rebase, Sources: []string{"picked"}}, []string{"rebase", "-q", "picked"}, 1},
		"rebase onto":      {Derivation{Kind: Rebase, Sources: []string{"side^", "main"}}, []string{"rebase", "-q", "--onto", "main", "side^"}, 1},
		"rebase nothing":   {Derivation{Kind: Rebase, Sources: []string{"start~"}}, []string{"rebase", "-q", "start~"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			d.reset()
			d.git("branch", "-f", "ahead", d.git("commit-tree", "-m", "ahead", "-p", "main", "main^{tree}"))
			d.git("branch", "-f", "merged", d.git("commit-tree", "-m", "merged", "-p", "main", "-p", "side", d.git("merge-tree", "--write-tree", "main", "side")))
			d.git("checkout", "-q", "--detach")
			d.git("cherry-pick", "side^")
			d.git("branch", "-f", "picked")
			d.git("checkout", "-q", "main")
			if name == "rebase the other" || name == "rebase, dropped" || name == "rebase onto" {
				d.git("checkout", "-q", "--detach", "side")
			}
			var after string
			all, err := d.derive(c.how, func() {
				d.git(c.call...)
				after = d.git("log", "--format=%T %an %ad %s", "-5")
			})
			if err != nil || len(all) != c.signed {
				t.Fatalf("%v, %v", all, err)
			}
			for i, r := range all {
				run(t, "git", "-C", d.dir, "verify-commit", r.Signed)
				if i == len(all)-1 && d.git("rev-parse", "HEAD") != r.Signed {
					t.Errorf("HEAD is %s instead of %s", d.git("rev-parse", "HEAD"), r.Signed)
				}
			}
			if now := d.git("log", "--format=%T %an %ad %s", "-5"); now != after || d.git("status", "--porcelain") != "" {
				t.Errorf("after signing there is\n%s\ninstead of\n%s", now, after)
			}
			run(t, "git", "-C", d.dir, "fsck", "--strict")
			if out := d.git("log", "--format=%G?", "side"); strings.ContainsAny(out, "GU") {
				t.Errorf("a commit of others is signed: %s", out)
			}
		})
	}
}

// A commit that is not what git makes of the commits that were there stays unsigned.
func TestForgedCommitsAreNotSigned(t *testing.T) {
	d := newDerivation(t)
	merge, pick := Derivation{Kind: Merge, Sources: []string{"side"}}, Derivation{Kind: Pick, Sources: []string{"side^", "side"}}
	rebase := Derivation{Kind: Rebase, Sources: []string{"side"}}
	more := func() { d.commit("more", "more", "x\n") }
	amend := func(argv ...string) func() {
		return func() { d.git(append([]string{"commit", "-q", "--amend", "--allow-empty"}, argv...)...) }
	}
	forged := func() {
		write(t, filepath.Join(d.dir, "m"), "forged\n", 0o600)
		d.git("commit", "-qa", "--amend", "--no-edit")
	}
	for name, c := range map[string]struct {
		how   Derivation
		call  []string
		forge func()
		says  string
	}{
		"merge, other files":     {merge, []string{"merge", "-q", "side"}, forged, "other files"},
		"merge, another message": {merge, []string{"merge", "-q", "side"}, amend("-m", "Merge branch 'side'\n\nand approve"), "different message"},
		"merge, another branch":  {merge, []string{"merge", "-q", "--no-ff", "side^"}, func() {}, "other parents"},
		"merge and more":         {merge, []string{"merge", "-q", "side"}, more, "several"},
		"merge, ours":            {merge, []string{"merge", "-q", "-s", "ours", "side"}, func() {}, "other files"},
		"pick, other files":      {pick, []string{"cherry-pick", "side^", "side"}, forged, "other files"},
		"pick, one":              {pick, []string{"cherry-pick", "side^"}, func() {}, "missing"},
		"pick and more":          {pick, []string{"cherry-pick", "side^", "side"}, more, "more new commits than"},
		"pick, other order":      {pick, []string{"cherry-pick", "side", "side^"}, func() {}, "author"},
		"pick, another author":   {pick, []string{"cherry-pick", "side^", "side"}, amend("--no-edit", "--author=C <c@example.com>"), "author"},
		"pick, another message":  {pick, []string{"cherry-pick", "side^", "side"}, amend("-m", "other"), "message"},
		"pick elsewhere":         {pick, []string{"checkout", "-q", "--detach", "start~"}, more, "on top of the expected commit"},
		"rebase, other files":    {rebase, []string{"rebase", "-q", "side"}, forged, "other files"},
		"rebase and more":        {rebase, []string{"rebase", "-q", "side"}, more, "more new commits than"},
		"rebase elsewhere":       {rebase, []string{"rebase", "-q", "side^"}, func() {}, "on top of the expected commit"},
		"another committer": {pick, []string{"cherry-pick", "side^"}, func() {
			run(t, "git", "-C", d.dir, "-c", "commit.gpgSign=false", "-c", "user.email=b@example.com", "cherry-pick", "side")
		}, "committer"},
		"no such commit": {Derivation{Kind: Pick, Sources: []string{"none"}}, nil, nil, "no commit none"},
		"a range":        {Derivation{Kind: Pick, Sources: []string{"a b"}}, nil, nil, "not the name"},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			d.reset()
			var after string
			all, err := d.derive(c.how, func() {
				d.git(c.call...)
				c.forge()
				after = d.git("rev-parse", "HEAD")
			})
			if err == nil || !strings.Contains(err.Error(), c.says) || len(all) > 0 {
				t.Errorf("%v, %v", all, err)
			}
			if after != "" && d.git("rev-parse", "HEAD") != after {
				t.Error("HEAD has moved")
			}
		})
	}
}

// What the repository's own settings and attributes make of a merge is not signed, and no
// program of theirs runs for it.
func TestDrivers(t *testing.T) {
	d := newDerivation(t)
	ran := filepath.Join(d.dir, "ran")
	write(t, filepath.Join(d.dir, ".git", "info", "attributes"), "m merge=mine\n", 0o600)
	all, err := d.derive(Derivation{Kind: Merge, Sources: []string{"side"}}, func() {
		d.git("-c", "merge.mine.driver=echo forged >%A", "merge", "-q", "side")
		run(t, "git", "-C", d.dir, "config", "merge.mine.driver", "touch "+ran+"; false")
	})
	if err == nil || !strings.Contains(err.Error(), "other files") {
		t.Errorf("%v, %v", all, err)
	}
	if out := run(t, "ls", d.dir); strings.Contains(out, "ran") {
		t.Error("a program of the repository ran")
	}
}
