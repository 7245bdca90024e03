package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// An agent nests directories by the thousand in its home, its files and its repository,
// and in the second case commits a few objects that stand for a billion files. Both
// sessions end and can be removed. The person gets what can be brought, and is told what
// was not, and where it is; nobody but they gives that up.
func TestWorkThatIsTooLarge(t *testing.T) {
	const nest = `cd /workspace; git config --global user.name m; git config --global user.email m@m; git commit -q --allow-empty -m second
for at in ~ /workspace /workspace/.git/refs/heads; do (cd $at; perl -e 'for (1..5000) { mkdir "directory" and chdir "directory" or die $! }'); done
`
	bomb := `id=$(echo x | git hash-object -w --stdin); tree=$(for i in $(seq 1000); do printf '100644 blob %s\tf%d\n' $id $i; done | git mktree)
` + strings.Repeat("tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\t%d\\n' $tree $i; done | git mktree)\n", 6) +
		"git update-ref HEAD $(git commit-tree -p HEAD -m bomb $tree)\n"
	for name, c := range map[string]struct {
		script  string
		says    []string
		subject string // of the newest commit that the person has
		insist  bool
	}{
		"directories": {nest, []string{"1 commit on branch ", " merge "}, "second", false},
		"a commit":    {nest + bomb, []string{"2 commits in ", "a commit has more than 500000 files", "sessions resume"}, "first", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			repo := filepath.Join(home, "repo")
			newRepository(t, repo)
			if err := os.Chmod(home, 0o755); err != nil {
				t.Fatal(err)
			}
			toolAgent(t, home, map[string]any{"worktree": true})
			d := drive(t, home, 130, 40, "demo", "--agent", "mine", "--workspace", repo)
			d.see(patience, "mine$")
			id := d.onlySession().ID
			d.inside(id, c.script)
			d.quit()
			if !d.says(c.says...) {
				t.Errorf("the end does not say %q:\n%s", c.says, d.text())
			}
			if got := gitIn(t, repo, "log", "-1", "--format=%s", "ironcurtain/"+string(id[:8])); got != c.subject {
				t.Errorf("the person's branch has %q", got)
			}
			_, errs, code := d.command("sessions", "rm", id)
			if refused := code == cli.ExitFailure && strings.Contains(errs, "--force"); refused != c.insist || !refused && code != cli.ExitOK {
				t.Errorf("remove: code %d, %s", code, errs)
			}
			if c.insist {
				if _, errs, code := d.command("sessions", "rm", "--force", id); code != cli.ExitOK {
					t.Errorf("remove, insisting: code %d, %s", code, errs)
				}
			}
			d.traceless()
		})
	}
}
