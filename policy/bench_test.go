package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// thousandRules are rules for many tools. The last one applies to the measured call.
func thousandRules(b *testing.B, dir string) *Compiled {
	b.Helper()
	var rules []string
	for i := range 999 {
		rules = append(rules, fmt.Sprintf(`{"name":"rule-%d","if":{"server":["server-%d"],"tool":["tool-%d"],"paths":{"roles":["read-path"],"within":"/srv/%d"}},"then":"allow"}`, i, i%10, i, i))
	}
	rules = append(rules, `{"name":"last","if":{"server":["filesystem"],"paths":{"roles":["read-path"],"within":"`+dir+`"}},"then":"allow"}`)
	c, err := ParseCompiled("thousand.json", []byte(`{"rules":[`+strings.Join(rules, ",")+`]}`))
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkDecide measures only the decision, on a prepared call.
func BenchmarkDecide(b *testing.B) {
	dir := b.TempDir()
	e, _ := defaultEngine(b, func(c *Config) { c.Policy = thousandRules(b, dir) })
	f := &facts{
		tool: e.collector.tools[toolKey{"filesystem", "read_text_file"}], call: Call{Server: "filesystem", Tool: "read_text_file"},
		roles:    []Role{ReadPath},
		elements: []element{{argument: "path", role: ReadPath, text: dir + "/a/b/c.txt", path: true}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if o := e.judge.decide(f); o.decision != Allow || o.rule != "last" {
			b.Fatal(o)
		}
	}
}

// BenchmarkEvaluate measures a whole call: decoding, schema, resolving a path of six
// parts, decision, encoding.
func BenchmarkEvaluate(b *testing.B) {
	e, root := defaultEngine(b, func(c *Config) {
		c.Policy = thousandRules(b, "/srv")
		c.Protected = []string{c.Home + "/.ssh", c.Home + "/.ironcurtain", "/etc/shadow"}
	})
	if err := os.MkdirAll(root+"/sandbox/a/b/c/d/e", 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(root+"/sandbox/a/b/c/d/e/f", nil, 0o600); err != nil {
		b.Fatal(err)
	}
	c := Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"/workspace/a/b/c/d/e/f"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if v := e.Evaluate(c); v.Decision != Allow {
			b.Fatal(v)
		}
	}
}

// BenchmarkEvaluateWrite measures a write in a repository, whose configuration is read to
// find out what git would run.
func BenchmarkEvaluateWrite(b *testing.B) {
	e, root := defaultEngine(b, func(c *Config) { c.Protected = []string{c.Home + "/.ssh", c.Home + "/.ironcurtain", "/etc/shadow"} })
	w := &world{t: b, root: root}
	w.repository("sandbox", githubRemote, map[string]string{"a/b/c/d/e/f": ""})
	w.write("home/.gitconfig", "[user]\n\tname = a\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n")
	c := Call{Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"/workspace/a/b/c/d/e/f","content":"package c"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if v := e.Evaluate(c); v.Decision != Allow {
			b.Fatal(v)
		}
	}
}

// BenchmarkEvaluateFiftyPaths measures one call with fifty paths.
func BenchmarkEvaluateFiftyPaths(b *testing.B) {
	e, _ := defaultEngine(b, func(c *Config) { c.Protected = []string{c.Home + "/.ssh"} })
	var paths []string
	for i := range 50 {
		paths = append(paths, fmt.Sprintf(`"/workspace/src/pkg%d/sub/file.go"`, i))
	}
	c := Call{Server: "filesystem", Tool: "read_multiple_files", Arguments: []byte(`{"paths":[` + strings.Join(paths, ",") + `]}`)}
	b.ReportAllocs()
	for b.Loop() {
		if v := e.Evaluate(c); v.Decision != Allow {
			b.Fatal(v)
		}
	}
}

// BenchmarkEvaluateGitLog measures a call in a repository that has had objects and
// branches for some time.
func BenchmarkEvaluateGitLog(b *testing.B) {
	w := newWorld(b)
	git := "iron/sessions/s1/sandbox/repo/.git/"
	for i := range 100 {
		w.write(fmt.Sprintf("%sobjects/%02x/%038x", git, i, i), "x")
		w.write(fmt.Sprintf("%srefs/remotes/origin/b%d", git, i), "0123456789012345678901234567890123456789\n")
	}
	e := w.engine()
	c := Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"/workspace/repo"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if v := e.Evaluate(c); v.Decision != Allow {
			b.Fatal(v)
		}
	}
}

// BenchmarkEvaluateGitPush measures reading a repository to find out where a push goes.
func BenchmarkEvaluateGitPush(b *testing.B) {
	w := newWorld(b)
	e := w.engine()
	c := Call{Server: "git", Tool: "git_push", Arguments: []byte(`{"path":"/workspace/repo"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if v := e.Evaluate(c); v.Decision != Escalate {
			b.Fatal(v)
		}
	}
}
