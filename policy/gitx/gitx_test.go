package gitx

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// git runs the real git without this machine's configuration.
func git(t testing.TB, home, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	out, err := cmd.Output()
	return string(out), err
}

func mustGit(t testing.TB, home, dir string, args ...string) string {
	t.Helper()
	out, err := git(t, home, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var configs = []string{
	"",
	"[core]\n\tbare = false\n",
	"[a]\nx\ny = \nz=1;comment\nw = \"a;b\" # c\n",
	"[a \"Sub.Section \\\"q\\\" \\\\\"]\n\tName = va\\\n  lue\n",
	"[A.Sub]\n\tKEY = \" lead and trail \"\n",
	"[a] x = 1 2   3  \n[b]y=2\n",
	"[a.B \"C\"]\n\tx = 1\n[a \"b.c\"]\n\tx = 2\n",
	"[a]\n\tx = a\\tb\\nc\\\\d\\\"e\n",
	"\ufeff[a]\r\n\tx = 1\r\n\ty = \"2\" \r\n",
	"[a]\n\tx = \"one\" two \"three\"\n",
	"# c\n; d\n[a-b]\n\tc-d = e=f\n",
	"[remote \"o\"]\n\turl = https://a/b ; x\n\turl = \"https://c/d\"\n",
	"[a]\n\tx = y \\\n\n\tz = w\n",
	"[a]\n\tx = \"a \\\n b\"\n",
	"[a\n", "[a]\n\tx = \"open\n", "[a]\n\t1x = 1\n", "[]\n", "[a \"b]\n", "[a]\n\tx y\n", "[a]\n\tx = \\q\n", "[a \"b\" c]\n", "[a]]\n",
}

// TestParseConfigAgreesWithGit compares with `git config --list`.
func TestParseConfigAgreesWithGit(t *testing.T) {
	dir := tempDir(t)
	for _, text := range configs {
		t.Run(text, func(t *testing.T) {
			file := dir + "/config"
			write(t, file, text)
			out, gitErr := git(t, dir, dir, "config", "--file", file, "--list", "-z")
			c, err := parseConfig([]byte(text))
			if (err == nil) != (gitErr == nil) {
				t.Errorf("%q: error %v, git's %v", text, err, gitErr)
				return
			}
			if err != nil {
				return
			}
			var got []string
			for _, e := range c.entries {
				key := e.section + "."
				if e.subsection != "" {
					key += e.subsection + "."
				}
				key += e.name
				if !e.implicit {
					key += "\n" + e.value
				}
				got = append(got, key)
			}
			want := strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%q (-git +ours):\n%s", text, diff)
			}
		})
	}
}

// TestResolveAgreesWithGit compares with `git remote get-url --all`.
func TestResolveAgreesWithGit(t *testing.T) {
	for name, config := range map[string]string{
		"plain":         "[remote \"origin\"]\n\turl = https://github.com/a/b.git\n",
		"scp":           "[remote \"origin\"]\n\turl = git@github.com:a/b.git\n",
		"push url":      "[remote \"origin\"]\n\turl = https://github.com/a/b.git\n\tpushurl = ssh://git@example.org/x\n\tpushurl = https://example.net/y\n",
		"two":           "[remote \"origin\"]\n\turl = https://github.com/a/b.git\n\turl = https://example.org/b.git\n",
		"instead":       "[remote \"origin\"]\n\turl = gh:a/b.git\n[url \"https://github.com/\"]\n\tinsteadOf = gh:\n",
		"longest":       "[remote \"origin\"]\n\turl = https://github.com/a/b\n[url \"https://x.org/\"]\n\tinsteadOf = https://github.com/\n[url \"https://y.org/\"]\n\tinsteadOf = https://github.com/a/\n",
		"first of two":  "[remote \"origin\"]\n\turl = https://github.com/a/b\n[url \"https://x.org/\"]\n\tinsteadOf = https://github.com/\n[url \"https://y.org/\"]\n\tinsteadOf = https://github.com/\n",
		"push instead":  "[remote \"origin\"]\n\turl = https://github.com/a/b\n[url \"ssh://git@github.com/\"]\n\tpushInsteadOf = https://github.com/\n",
		"both":          "[remote \"origin\"]\n\turl = https://github.com/a/b\n[url \"ssh://git@github.com/\"]\n\tpushInsteadOf = https://github.com/\n[url \"https://z.org/\"]\n\tinsteadOf = https://github.com/\n",
		"first base":    "[remote \"origin\"]\n\turl = https://github.com/a/b\n[url \"https://x.org/\"]\n\tinsteadOf = gh:\n[url \"https://y.org/\"]\n\tinsteadOf = https://github.com/\n[url \"https://x.org/\"]\n\tinsteadOf = https://github.com/\n",
		"empty rule":    "[remote \"origin\"]\n\turl = https://github.com/a/b\n[url \"https://x.org/\"]\n\tinsteadOf =\n",
		"two forms":     "[remote \"origin\"]\n\turl = https://github.com/a/b\n[remote.an \"origin\"]\n\turl = https://x.org/\n",
		"push url kept": "[remote \"origin\"]\n\turl = https://github.com/a/b\n\tpushurl = https://github.com/c/d\n[url \"ssh://git@github.com/\"]\n\tpushInsteadOf = https://github.com/\n[url \"https://z.org/\"]\n\tinsteadOf = https://github.com/c/\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := tempDir(t)
			mustGit(t, dir, dir, "init", "-q", "repo")
			repo := dir + "/repo"
			write(t, repo+"/.git/config", "[core]\n\trepositoryformatversion = 0\n"+config)
			r, err := Open(repo, Home{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []Direction{Fetch, Push} {
				args := []string{"remote", "get-url", "--all"}
				if d == Push {
					args = append(args, "--push")
				}
				want := strings.Fields(mustGit(t, dir, repo, append(args, "origin")...))
				addresses, err := r.Resolve("origin", d)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				var got []string
				for _, a := range addresses {
					got = append(got, a.String())
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, push %v (-git +ours):\n%s", name, d, diff)
				}
			}
		})
	}
}

// TestPushesElsewhere asks git which branch it would push to.
func TestPushesElsewhere(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "--bare", "remote.git")
	mustGit(t, dir, dir, "init", "-q", "-b", "main", "repo")
	repo := dir + "/repo"
	mustGit(t, dir, repo, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	mustGit(t, dir, repo, "branch", "side")
	config := "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = ../remote.git\n[branch \"main\"]\n\tremote = origin\n" +
		"\tmerge = refs/heads/production\n[branch \"side\"]\n\tremote = origin\n\tmerge = refs/heads/side\n[push]\n\tdefault = "
	for _, mode := range []string{"upstream", "tracking", "simple", "current"} {
		t.Run(mode, func(t *testing.T) {
			write(t, repo+"/.git/config", config+mode+"\n")
			r, err := Open(repo, Home{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			for branch, args := range map[string][]string{"": nil, "main": {"main"}, "refs/heads/main": {"refs/heads/main"}, "heads/main": {"heads/main"}, "side": {"side"}} {
				if branch == "" && mode == "simple" {
					continue // git refuses
				}
				out := mustGit(t, dir, repo, append([]string{"push", "--dry-run", "--porcelain", "origin"}, args...)...)
				if got, want := r.PushesElsewhere(branch), strings.Contains(out, ":refs/heads/production"); got != want {
					t.Errorf("%s, branch %q: %v; git says %q", mode, branch, got, out)
				}
			}
		})
	}
}

// TestReadOnlyOneWay has configurations that are easily misread, or that versions of git
// read differently.
func TestReadOnlyOneWay(t *testing.T) {
	for _, config := range []string{"[core \"\"]\n\tworktree = /\n", "[core.]\n\tworktree = /\n"} {
		t.Run(config, func(t *testing.T) {
			if _, err := parseConfig([]byte(config)); err == nil {
				t.Errorf("%q is read", config)
			}
		})
	}
	for _, addresses := range []string{
		"url = https://github.com/a/b\nurl =\nurl = https://example.org/x\n",
		"url = https://github.com/a/b\npushurl = https://example.org/x\npushurl =\n",
	} {
		t.Run(addresses, func(t *testing.T) {
			c, err := parseConfig([]byte("[remote \"origin\"]\n" + addresses))
			if err != nil {
				t.Fatal(err)
			}
			r := &Repo{config: c, own: c}
			for _, d := range []Direction{Fetch, Push} {
				if got, err := r.Resolve("origin", d); err == nil {
					t.Errorf("%q, push %v: %v", addresses, d, got)
				}
			}
		})
	}
}

// TestHeadAgreesWithGit writes HEAD in every form that git reads.
func TestHeadAgreesWithGit(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "-b", "main", "repo")
	repo := dir + "/repo"
	mustGit(t, dir, repo, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	mustGit(t, dir, repo, "branch", "side")
	mustGit(t, dir, repo, "pack-refs", "--all")
	want := strings.TrimSpace(mustGit(t, dir, repo, "rev-parse", "HEAD"))
	for _, form := range []string{
		"ref: refs/heads/side\n", "ref:refs/heads/side", "ref:\t\n refs/heads/side \r\n", "-> refs/heads/side", want + "\n",
	} {
		head := repo + "/.git/HEAD"
		if err := os.Remove(head); err != nil {
			t.Fatal(err)
		}
		if target, link := strings.CutPrefix(form, "-> "); link {
			if err := os.Symlink(target, head); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, head, form)
		}
		branch, _ := git(t, dir, repo, "symbolic-ref", "--short", "-q", "HEAD")
		r, err := Open(repo, Home{})
		if err != nil {
			t.Fatalf("%q: %v", form, err)
		}
		if got := r.Branch(); got != strings.TrimSpace(branch) {
			t.Errorf("%q: branch %q, git's is %q", form, got, branch)
		}
		if got, err := r.Ref("HEAD"); got != want || err != nil {
			t.Errorf("%q: HEAD is %s %v, want %s", form, got, err, want)
		}
	}
}

// TestManySymbolicRefs has thousands of symbolic references to thousands of packed ones.
func TestManySymbolicRefs(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "repo")
	const some = "0123456789012345678901234567890123456789"
	write(t, dir+"/repo/.git/packed-refs", strings.Repeat(some+" refs/tags/x\n", 120_000)+some+" refs/heads/packed\n")
	for i := range 3000 {
		write(t, dir+"/repo/.git/refs/heads/a"+strconv.Itoa(i), "ref: refs/heads/packed\n")
	}
	r, err := Open(dir+"/repo", Home{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Refs("refs/heads/")
	if err != nil || len(got) != 3001 || got["refs/heads/a7"] != some {
		t.Errorf("%d references, %v", len(got), err)
	}
}

// TestAddressesThatAreNames asks git itself what it would contact for an address that is
// also the name of a remote.
func TestAddressesThatAreNames(t *testing.T) {
	const address, other = "https://github.com/a/b", "https://example.org/x"
	for config, named := range map[string]bool{
		"[remote \"" + address + "\"]\n\turl = " + other + "\n":     true,
		"[remote \"" + address + ".git\"]\n\turl = " + other + "\n": false,
		"[remote \"origin\"]\n\turl = " + address + "\n":            false,
	} {
		t.Run(config, func(t *testing.T) {
			dir := tempDir(t)
			mustGit(t, dir, dir, "init", "-q", "repo")
			write(t, dir+"/repo/.git/config", "[core]\n\trepositoryformatversion = 0\n"+config)
			r, err := Open(dir+"/repo", Home{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if contacted := strings.TrimSpace(mustGit(t, dir, dir+"/repo", "ls-remote", "--get-url", address)); (contacted == other) != named {
				t.Errorf("%q: git contacts %s", config, contacted)
			}
			if got, err := r.Resolve(address, Push); (err != nil) != named {
				t.Errorf("%q: %v, %v", config, got, err)
			}
			if a, err := ParseAddress(address); err != nil || r.Pinned(a, Push) == named {
				t.Errorf("%q: pinned, %v", config, err)
			}
		})
	}
}

func TestOpenFollowsWorktrees(t *testing.T) {
	home := tempDir(t)
	mustGit(t, home, home, "init", "-q", "-b", "main", "repo")
	repo := home + "/repo"
	mustGit(t, home, repo, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	mustGit(t, home, repo, "remote", "add", "origin", "https://github.com/a/b.git")
	mustGit(t, home, repo, "worktree", "add", "-q", "../tree", "-b", "side")
	mustGit(t, home, repo, "config", "branch.side.pushRemote", "origin")
	r, err := Open(home+"/tree", Home{Dir: home})
	if err != nil {
		t.Fatal(err)
	}
	if r.Branch() != "side" || r.DefaultRemote(Push) != "origin" {
		t.Errorf("branch %q, remote %q", r.Branch(), r.DefaultRemote(Push))
	}
	if common, err := filepath.EvalSymlinks(r.CommonDir); err != nil || common != repo+"/.git" {
		t.Errorf("common directory %q %v", common, err)
	}
	if got, err := r.Resolve("origin", Fetch); err != nil || len(got) != 1 || got[0].Path != "a/b" {
		t.Errorf("origin %v %v", got, err)
	}
	if _, err := Open(home, Home{}); !errors.Is(err, ErrNoRepository) {
		t.Errorf("outside: %v", err)
	}
	if hooks := r.Programs(true, nil); len(hooks) != 0 {
		t.Errorf("a fresh repository runs %q", hooks)
	}
}

func TestTrustedIncludes(t *testing.T) {
	home := tempDir(t)
	mustGit(t, home, home, "init", "-q", "repo")
	write(t, home+"/.gitconfig", "[include]\n\tpath = ~/more\n[includeIf \"gitdir:/x\"]\n\tpath = identity\n")
	write(t, home+"/more", "[url \"https://github.com/\"]\n\tinsteadOf = gh:\n")
	write(t, home+"/identity", "[user]\n\tname = x\n")
	r, err := Open(home+"/repo", Home{Dir: home})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.rewrite("gh:a/b", false); got != "https://github.com/a/b" {
		t.Errorf("rewritten to %q", got)
	}
	write(t, home+"/identity", "[url \"https://evil.example.org/\"]\n\tinsteadOf = https://github.com/\n")
	if _, err := Open(home+"/repo", Home{Dir: home}); err == nil {
		t.Error("a conditional rewriting rule is accepted")
	}
	write(t, home+"/more", "[include]\n\tpath = ~/more\n")
	if _, err := Open(home+"/repo", Home{Dir: home}); err == nil {
		t.Error("a loop of includes is accepted")
	}
}

func TestParseAddress(t *testing.T) {
	for raw, want := range map[string]string{
		"https://github.com/a/b.git": "https://github.com:443 a/b", "https://GitHub.com./a/b/": "https://github.com:443 a/b",
		"git@github.com:a/b.git": "ssh://github.com:22 a/b", "github.com:a/b": "ssh://github.com:22 a/b",
		"ssh://git@github.com:2222/a/b": "ssh://github.com:2222 a/b", "git+ssh://git@github.com/a/b": "ssh://github.com:22 a/b",
		"git@[2606:4700::1]:a/b": "ssh://2606:4700::1:22 a/b", "git://example.com/a": "git://example.com:9418 a",

		"": "", "-x": "", "--upload-pack=x": "", "/tmp/x": "", "./x": "", "../x": "", "~/x": "", "x": "", "file:///x": "", "FILE://x/y": "",
		"ext::sh -c x": "", "ext::sh": "", "fd::3": "", "::": "", "foo::https://github.com/a": "", "https://u:p@github.com/a": "", "https://u@github.com/a": "",
		"ssh://-oProxyCommand=x/y": "", "ssh://-x@github.com/y": "", "ssh://u:p@github.com/y": "", "-oX@github.com:y": "", "git@-x:y": "", "git@github.com:-x": "",
		"git@github.com:a/../b": "", "https://github.com/a/%2e%2e/b": "https://github.com:443 b", "ssh://github.com/a/%2e%2e/b": "", "ftp://github.com/a": "",
		"https://github.com/a?x": "", "https://github.com/a b": "", "https://github.com/a\nb": "", "git@git hub.com:a": "", "git@2130706433:a/b": "",
		"https://2130706433/a": "", "a/b:c": "", "http://": "", "ssh://": "", "git@github.com:": "", "transport::ssh://x/y": "", "ssh://github.com:0/a": "",
	} {
		t.Run(raw, func(t *testing.T) {
			a, err := ParseAddress(raw)
			got := ""
			if err == nil {
				got = a.Scheme + "://" + a.Host + ":" + strconv.Itoa(a.Port) + " " + a.Path
			}
			if got != want {
				t.Errorf("%q: %q %v, want %q", raw, got, err, want)
			}
			if err != nil {
				return
			}
			if again, err := ParseAddress(a.String()); err != nil || again != a {
				t.Errorf("%q is spelled %q, again %+v %v", raw, a, again, err)
			}
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, text := range configs {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConfig(data)
		if err != nil {
			return
		}
		for _, e := range c.entries {
			if e.section == "" || e.name == "" || e.section != strings.ToLower(e.section) || strings.ContainsRune(e.value, 0) {
				t.Fatalf("%q has %+v", data, e)
			}
		}
	})
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"https://github.com/a/b.git", "git@github.com:a/b", "ssh://git@[::1]:22/x", "ext::sh", "a:b", "git+ssh://x/%2e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			return
		}
		again, err := ParseAddress(a.String())
		if err != nil || again != a {
			t.Fatalf("%q is spelled %q, again %+v %v", s, a, again, err)
		}
		if strings.HasPrefix(a.Host, "-") || strings.HasPrefix(a.String(), "-") || helper.MatchString(a.String()) {
			t.Fatalf("%q is spelled %q", s, a)
		}
	})
}

// TestBooleansAgreeWithGit compares with `git config --type=bool`.
func TestBooleansAgreeWithGit(t *testing.T) {
	dir := tempDir(t)
	file := dir + "/config"
	for _, text := range []string{
		"true", "Yes", "ON", "1", "2", "-1", "+1", "010", "0x10", "0XaF", "1k", "2M", "1g", "99999", " 1",
		"false", "No", "OFF", "0", "00", "-0", "+0", "0x0", "0k", "",
		"y", "t", "maybe", "1x", "0x", "1.5", "k", "--1", "tru", "1 ",
	} {
		t.Run(text, func(t *testing.T) {
			write(t, file, "[a]\n\tx = \""+text+"\"\n")
			out, err := git(t, dir, dir, "config", "--file", file, "--type=bool", "a.x")
			value, known := boolean(text)
			if known != (err == nil) || known && strconv.FormatBool(value) != strings.TrimSpace(out) {
				t.Errorf("%q: %v, known %v; git says %q, error %v", text, value, known, out, err)
			}
		})
	}
}
