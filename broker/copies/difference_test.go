package copies

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestNothingOfGitsIsLanded(t *testing.T) {
	s := newSite(t, "git init -q; git config user.name a; git config user.email a@b; echo a > a; mkdir sub; git add a; git commit -qm a")
	s.agent(`printf '#!/bin/sh\n' > .git/hooks/pre-commit; echo x >> .git/config; mkdir -p sub/.git/hooks .GIT "git~1"; echo x > sub/.git/hooks/x; echo x > .GIT/config; echo x > "git~1/config"; echo b > b`)
	d := s.difference()
	if got := brief(d.Changes); got != "+b" || d.Commits {
		t.Errorf("changes %s, commits %v", got, d.Commits)
	}
	s.agent("git -c core.hooksPath=/dev/null config --unset core.none || true; echo ref: refs/heads/x > .git/HEAD; mkdir -p .git/refs/heads; echo 1111111111111111111111111111111111111111 > .git/refs/heads/x")
	if !s.difference().Commits {
		t.Error("new commits are not told")
	}
	s.land(Which{Ignored: true})
	if got := shell(t, s.origin, "ls -A; ls sub; git config --get-regexp x || true; ls .git/hooks | grep -v sample || true"); got != ".git\na\nb\nsub\n" {
		t.Errorf("there is %q", got)
	}
}

func TestLinksThatLeadOutAreNotLanded(t *testing.T) {
	s := newSite(t, "mkdir d; echo a > a; ln -s /etc outside; ln -s a old")
	s.agent(`ln -s ../a d/good; ln -s d/none dangling; ln -s /etc/passwd absolute; ln -s ../../x up; ln -s ../../../x d/up; ln -s outside/passwd through
		ln -s .git/hooks own; ln -s none/../../../x later; ln -s loop loop; rm old; ln -s .. old`)
	want := "!+absolute +d/good +dangling !+later !+loop !~old !+own !+through !+up"
	d := s.difference()
	got := brief(d.Changes)
	if got = strings.Replace(got, " !+d/up", "", 1); got != want {
		t.Errorf("changes %s, want %s", got, want)
	}
	if _, err := Land(t.Context(), d, Which{}); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, s.origin); got != "a=a d/ d/good>../a dangling>d/none old>a outside>/etc" {
		t.Errorf("landed %s", got)
	}
}

// Two links that are landed one after the other do not lead out of the directory together.
func TestLinksThatLeadOutTogether(t *testing.T) {
	s := newSite(t, "mkdir -p top p/q; echo a > a")
	s.agent("ln -s later/../../secret p/q/first; ln -s ../../a p/q/good; ln -s ./p/q/good plain")
	s.land(Which{})
	s.agent("ln -s ../../top p/q/later")
	s.land(Which{})
	if got := tree(t, s.origin); got != "a=a p/ p/q/ p/q/good>../../a p/q/later>../../top plain>./p/q/good top/" {
		t.Errorf("landed %s", got)
	}
}

func TestWhatIsNoFileStays(t *testing.T) {
	s := newSite(t, "echo a > a; echo b > b")
	s.agent("rm a; mkfifo a pipe; rm b; echo c > c; chmod 0 c")
	if os.Geteuid() == 0 {
		s.agent("rm c; mkfifo c")
	}
	if got := brief(s.difference().Changes); !strings.HasPrefix(got, "!~a -b") {
		t.Errorf("changes %s", got)
	}
	s.land(Which{})
	if got := tree(t, s.origin); got != "a=a" {
		t.Errorf("landed %s", got)
	}
}

func TestWhatGitIgnoresComesOnRequest(t *testing.T) {
	s := newSite(t, `
		git init -q; printf 'build/\n*.log\n' > .gitignore; echo secret.txt > .git/info/exclude; echo t > tracked.log; git add -f tracked.log .gitignore
		mkdir build; echo o > build/old; echo o > build/gone`)
	s.agent("echo 2 > build/old; echo n > build/new; rm build/gone; echo l > x.log; echo s > secret.txt; echo 2 > tracked.log; echo a > a")
	d := s.difference()
	want := "+a ?-build/gone ?+build/new ?~build/old ?+secret.txt ~tracked.log ?+x.log"
	if got := brief(d.Changes); got != want || d.Unasked != "" {
		t.Errorf("changes %s, want %s, %s", got, want, d.Unasked)
	}
	if got := brief(s.land(Which{}).Landed); got != "+a ~tracked.log" {
		t.Errorf("landed %s", got)
	}
	if got := len(s.land(Which{Ignored: true}).Landed); got != 5 {
		t.Errorf("landed %d ignored files", got)
	}
}

// If the agent breaks the index, git judges by the patterns alone.
func TestBrokenIndex(t *testing.T) {
	s := newSite(t, "git init -q; echo '*.log' > .gitignore; git add .gitignore")
	s.agent("echo DIRC-nonsense > .git/index; echo l > x.log; echo a > a")
	if got := brief(s.difference().Changes); got != "+a ?+x.log" {
		t.Errorf("changes %s", got)
	}
}

func TestNamesThatTheDiskMerges(t *testing.T) {
	s := newSite(t, "echo r > Readme; mkdir dir; echo k > kept")
	s.agent("mv Readme README; echo x > x; echo X > X; mkdir Dir; echo i > Dir/in; echo k > Kept; echo o > other")
	d, err := difference(t.Context(), s.origin, s.copy, s.note, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := brief(d.Changes); got != "!+Dir !+Dir/in !+Kept !+README !-Readme !+X +other !+x" {
		t.Errorf("changes %s", got)
	}
}

func TestWhatProgramsRunIsMarked(t *testing.T) {
	s := newSite(t, `
		mkdir bare other hidden scripts; echo x > bare/HEAD; mkdir bare/objects other/objects; echo x > other/HEAD; echo x > other/config
		git init -q; git config core.hooksPath hooked; git config diff.x.command "sh tools/show"; ln -s scripts hooked`)
	s.agent(`echo x > .envrc; mkdir .vscode bare/refs other/refs tools; echo x > .vscode/tasks.json; echo x > bare/config; echo x > plain; echo x > other/refs/x
		git config --unset core.hooksPath; echo x > scripts/post-checkout; echo x > tools/show; echo x > scripts/update.sample; ln -s plain .bashrc`)
	home := t.TempDir()
	shell(t, home, "printf '[core]\n attributesFile = %s/Attributes\n' '"+s.origin+"' > .gitconfig")
	s.agent("echo x > attributes")
	d := s.difference()
	if err := d.Mark(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	var marked []string
	for _, c := range d.Changes {
		if c.Runs != "" {
			marked = append(marked, c.Path)
		}
	}
	if got := fmt.Sprint(marked); got != "[.bashrc .envrc .vscode/tasks.json attributes bare/config other/refs/x scripts/post-checkout tools/show]" {
		t.Errorf("marked %s", got)
	}
}
