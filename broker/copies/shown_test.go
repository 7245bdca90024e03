package copies

import (
	"strings"
	"testing"
)

// lines formats a list as a person sees it.
func lines(all []Line) string {
	var out []string
	for _, l := range all {
		switch {
		case l.Head:
			out = append(out, l.Text+":")
		case l.What != "":
			out = append(out, l.What+" "+l.Text)
		default:
			out = append(out, l.Text)
		}
	}
	return strings.Join(out, "\n")
}

func TestLinesForPeople(t *testing.T) {
	s := newSite(t, "git init -q; echo node_modules > .gitignore; for f in a b gone both script; do echo $f > $f; done; git add .gitignore")
	s.agent(`echo longer > a; rm gone; chmod +x script; mkdir -p new/deep node_modules/x; echo n > new/deep/n; echo m > node_modules/x/m; echo m > node_modules/y
		echo x > .envrc; rm b; ln -s a b; ln -s /etc out; echo 2 > both; printf 'esc\033[31m' > "$(printf 'bad\033name')"`)
	s.person("echo mine > both")
	d := s.difference()
	d.Origin = "~/project"
	for i := range d.Changes {
		d.Changes[i].Stays = strings.ReplaceAll(d.Changes[i].Stays, s.origin, "~/project")
	}
	want := `programs of this machine run or obey these by themselves; look at them before you land them:
added .envrc (the shell loads it)
to be landed in ~/project:
changed a (7 bytes, was 2 bytes)
changed b (a link to a)
added bad` + "\x1b" + `name (8 bytes)
deleted gone
added new/deep/n (2 bytes)
changed script (executable now)
changed on both sides; these stay as they are:
changed both (it was changed in ~/project, too)
not landed:
added out (the link leads out of the directory, or could)
git ignores these; --ignored lands them, too:
node_modules/ (2 files)`
	shown, more := d.Shown(100)
	if got := lines(shown.Lines(Which{})); got != want || more != 0 {
		t.Errorf("%d more:\n%s\nwant\n%s", more, got, want)
	}
	if got := d.Left(); got != "9 changed files, and 2 files that git ignores" {
		t.Errorf("left %s", got)
	}
	if files, run := d.Lands(Which{Ignored: true}); files != 9 || run != 1 {
		t.Errorf("%d are landed, %d run", files, run)
	}
	if shown, more = d.Shown(1); more != 10 || brief(shown.Changes) != "+.envrc" {
		t.Errorf("of many %s, %d more", brief(shown.Changes), more)
	}
	d.Commits, d.Unmarked, d.Unasked = true, "it took longer than 1s", "git cannot tell"
	d.Changes = nil
	if got := lines(d.Lines(Which{})); got != commitsStay+"\ngit cannot tell; --ignored lands all\nprograms of this machine may run more of these files than are marked: it took longer than 1s" {
		t.Errorf("besides:\n%s", got)
	}
}

func TestLandedInASentence(t *testing.T) {
	s := newSite(t, "echo a > a")
	s.agent("echo b > a; mkdir -p d/e; echo x > d/e/x")
	d := s.difference()
	s.person("echo mine > a")
	l, err := Land(t.Context(), d, Which{})
	if got := l.String(); err != nil || got != "landed 1 changed file; left 1 file: a (it has just changed in the directory)" {
		t.Errorf("%s, %v", got, err)
	}
	if got := (Landed{}).String(); got != "nothing was landed" {
		t.Errorf("nothing: %s", got)
	}
}

func TestTextOfAChange(t *testing.T) {
	s := newSite(t, "printf '1\\n2\\n3\\n' > a; printf '\\0' > binary; echo x > link")
	s.agent("printf '1\\ntwo\\n3\\n' > a; printf '\\0\\1' > binary; echo n > new; rm link; ln -s /etc/passwd link")
	got := map[string]string{}
	d := s.difference()
	for _, c := range d.Changes {
		text, err := d.Text(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		got[c.Path] = text
	}
	if got["a"] != "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n" || got["new"] != "@@ -0,0 +1 @@\n+n\n" || got["binary"] != "" || got["link"] != "" {
		t.Errorf("%q", got)
	}
}
