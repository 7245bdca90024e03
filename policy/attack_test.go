package policy

import (
	"strings"
	"testing"
)

// attack is a call that must not be allowed. A want of "" means that deny and
// escalate are both right.
type attack struct {
	name, server, tool, args string
	want                     Decision
}

// judgeAll runs attacks against the shipped annotations and against bare ones.
func judgeAll(t *testing.T, attacks []attack) {
	t.Helper()
	w := newWorld(t)
	engines := map[string]*Engine{
		"shipped": w.engine(),
		"plain":   w.engine(func(c *Config) { c.Annotations = plainAnnotations(t) }),
	}
	for kind, e := range engines {
		for _, a := range attacks {
			t.Run(kind+"/"+a.name, func(t *testing.T) {
				v := e.Evaluate(Call{Server: a.server, Tool: a.tool, Arguments: []byte(w.expand(a.args))})
				if v.Decision == Allow {
					t.Fatalf("allowed by %s: %s", v.Rule, v.Arguments)
				}
				if a.want != "" && v.Decision != a.want {
					t.Errorf("%s by %s (%s), want %s", v.Decision, v.Rule, v.Reason, a.want)
				}
				if (v.Arguments == nil) != (v.Decision == Deny) {
					t.Errorf("decision %s with arguments %s", v.Decision, v.Arguments)
				}
				if strings.ContainsAny(v.Reason, "\x1b\r\n\x00") {
					t.Errorf("reason %q is not safe to print", v.Reason)
				}
				if v.Decision == Escalate {
					fixedPoint(t, e, a.server, a.tool, v)
				}
			})
		}
	}
}

// fixedPoint checks that what would be forwarded is judged the same again.
func fixedPoint(t testing.TB, e *Engine, server, tool string, v Verdict) {
	t.Helper()
	again := e.Evaluate(Call{Server: server, Tool: tool, Arguments: v.Arguments})
	if again.Decision != v.Decision || string(again.Arguments) != string(v.Arguments) || again.Digest != v.Digest {
		t.Errorf("forwarded %s\njudged again: %s by %s (%s) %s", v.Arguments, again.Decision, again.Rule, again.Reason, again.Arguments)
	}
}

func read(name, path string, want Decision) attack {
	return attack{name, "filesystem", "read_text_file", `{"path":"` + path + `"}`, want}
}

func write(name, path string, want Decision) attack {
	return attack{name, "filesystem", "write_file", `{"path":"` + path + `","content":"x"}`, want}
}

func TestPathAttacks(t *testing.T) {
	judgeAll(t, []attack{
		{"move the sandbox", "filesystem", "move_file", `{"source":"/workspace","destination":"/workspace/x"}`, ""},
		write("onto the sandbox", "/workspace", Deny),
		write("onto the sandbox as this", ".", Deny),
		write("onto the sandbox from below", "src/..", Deny),
		write("onto the sandbox by its host path", "{BOX}/", Deny),
		{"edit the sandbox", "filesystem", "edit_file", `{"path":"/workspace","edits":[]}`, Deny},
		{"move the sandbox as this", "filesystem", "move_file", `{"source":"src/..","destination":"{OUT}/x"}`, ""},
		read("absolute outside", "{OUT}/secret.txt", Escalate),
		read("up from relative", "../../../../outside/secret.txt", Deny),
		read("up from mount", "/workspace/../etc/passwd", Deny),
		read("up to mount again", "/workspace/../workspace/../iron/config.json", Deny),
		read("up behind directory", "/workspace/src/../../x", Deny),
		read("mount look-alike", "/workspacefoo/a", Escalate),
		read("mount with dot", "/./workspace/../x", Deny),
		read("mount with slashes", "//workspace//../x", Deny),
		read("link out", "link-out/secret.txt", Escalate),
		read("relative link out", "link-rel/secret.txt", Escalate),
		read("link to a file", "link-secret", Escalate),
		read("link to a protected file", "link-config", Deny),
		read("link, then up", "link-out/../iron/config.json", Deny),
		read("link with up inside", "to-link-then-up/iron/config.json", Deny),
		read("chain of links", "chain/secret.txt", Escalate),
		read("link to root", "link-root/etc/hosts", Escalate),
		read("link to root, home", "link-home/.ssh/id_rsa", Deny),
		write("dangling link", "dangling", Escalate),
		write("below a dangling link", "dangling-dir/a/b", Escalate),
		write("dangling link to a protected place", "dangling-iron", Deny),
		write("deep below a link", "link-out/"+strings.Repeat("a/", 80)+"x", Escalate),
		read("loop", "loop", Deny),
		read("behind a loop", "loop/x", Deny),
		read("too many links", "many@", Deny),
		read("hard link to the configuration", "hard-config", Deny),
		read("hard link to a key", "/workspace/hard-key", Deny),
		read("fifo", "fifo", Deny),
		read("device", "/dev/zero", Deny),
		read("link to a device", "dev-null", Deny),
		read("process root", "/proc/self/root/etc/shadow", Deny),
		read("process directory", "/proc/self/cwd/x", Deny),
		read("another process", "/proc/1/environ", Deny),
		read("process files", "/proc/thread-self/fd/3", Deny),
		read("link to the process root", "proc-root/etc/shadow", Deny),
		read("link to the process directory", "proc-cwd", Deny),
		read("open files", "/dev/fd/3", Deny),
		read("standard input", "/dev/stdin", Deny),
		read("home", "~/notes.txt", Escalate),
		read("home, protected", "~/.ssh/id_rsa", Deny),
		read("home of root", "~root/.ssh/id_rsa", Deny),
		read("tilde plus", "~+/x", Deny),
		read("scheme", "file:///etc/passwd", Deny),
		read("scheme, upper case", "FILE:/etc/passwd", Deny),
		read("drive", `C:/Windows/win.ini`, Deny),
		read("backslash", `..\\..\\x`, Deny),
		read("NUL", `a.txt\u0000.png`, Deny),
		read("newline", `a\n.txt`, Deny),
		read("escape", `a\u001b[2J`, Deny),
		read("C1 control", `a\u009b2J`, Deny),
		read("bidi", `a\u202egnp.exe`, Deny),
		read("zero width", `\ufeffa.txt`, Deny),
		read("variable", "$HOME/.ssh/id_rsa", Deny),
		read("variable in braces", "/workspace/${USER}/x", Deny),
		read("variable within", "/workspace/$HOME/x", Deny),
		read("windows variable", "%USERPROFILE%/x", Deny),
		read("leading space", " /etc/passwd", Deny),
		read("trailing space", "/etc/passwd ", Deny),
		read("empty", "", Deny),
		read("too long", strings.Repeat("a/", 3000), Deny),
		read("long component", strings.Repeat("a", 300), Deny),
		read("behind a file", "a.txt/../../x", Deny),
		read("up from a missing directory", "missing/../a.txt", Deny),
		read("protected by a link to itself", "{BOX}/../../../config.json", Deny),
		read("another session", "{IRON}/sessions/s2/sandbox/other.txt", Deny),
		read("protected file in the sandbox", ".env", Deny),
		read("the same by host path", "{BOX}/.env", Deny),
	})
}

func TestShapeAttacks(t *testing.T) {
	long := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	fs := func(name, tool, args string) attack { return attack{name, "filesystem", tool, args, Deny} }
	judgeAll(t, []attack{
		fs("duplicate name", "read_text_file", `{"path":"a.txt","path":"/etc/passwd"}`),
		fs("duplicate by escape", "read_text_file", `{"path":"a.txt","pa\u0074h":"/etc/passwd"}`),
		fs("case twin", "read_text_file", `{"path":"a.txt","Path":"/etc/passwd"}`),
		fs("nested duplicate", "edit_file", `{"path":"a.txt","edits":[{"oldText":"a","oldText":"b","newText":"c"}]}`),
		fs("unicode twin", "read_text_file", `{"path":"a.txt","ｐath":"/etc/passwd"}`),
		fs("unknown argument", "read_text_file", `{"path":"a.txt","file":"/etc/passwd"}`),
		fs("constructor", "read_text_file", `{"path":"a.txt","constructor":1}`),
		fs("prototype", "read_text_file", `{"path":"a.txt","__proto__":{"path":"/etc/passwd"}}`),
		fs("nested prototype", "edit_file", `{"path":"a.txt","edits":[{"oldText":"a","newText":"b","__proto__":{}}]}`),
		fs("object as path", "read_text_file", `{"path":{"path":"/etc/passwd"}}`),
		fs("number as path", "read_text_file", `{"path":1}`),
		fs("null as path", "read_text_file", `{"path":null}`),
		fs("mixed list", "read_multiple_files", `{"paths":["a.txt",{"path":"/etc/shadow"}]}`),
		fs("nested list", "read_multiple_files", `{"paths":["a.txt",["/etc/shadow"]]}`),
		fs("empty list", "read_multiple_files", `{"paths":[]}`),
		fs("no path", "read_text_file", `{}`),
		fs("one path of two", "move_file", `{"destination":"a.txt"}`),
		fs("pattern that climbs", "search_files", `{"path":"src","pattern":"../../**"}`),
		fs("pattern from the root", "search_files", `{"path":"src","pattern":"/etc/*"}`),
		fs("exclusion that climbs", "directory_tree", `{"path":"src","excludePatterns":["a","x/../../.."]}`),
		fs("nothing", "read_text_file", ``),
		fs("null", "read_text_file", `null`),
		fs("list instead of object", "read_text_file", `["a.txt"]`),
		fs("invalid UTF-8", "read_text_file", "{\"path\":\"a\xff.txt\"}"),
		fs("overlong UTF-8", "read_text_file", "{\"path\":\"..\xc0\xaf\"}"),
		fs("lone surrogate", "read_text_file", `{"path":"a\ud800.txt"}`),
		fs("too deep", "edit_file", `{"path":"a.txt","edits":`+long+`}`),
		fs("too large a number", "read_text_file", `{"path":"a.txt","head":1e400}`),
		fs("inexact number", "read_text_file", `{"path":"a.txt","head":9007199254740993}`),
		fs("trailing data", "read_text_file", `{"path":"a.txt"}{"path":"/etc/passwd"}`),
		fs("comment", "read_text_file", `{"path":"a.txt"/* */}`),
		fs("single quotes", "read_text_file", `{'path':'a.txt'}`),
		fs("raw newline in a string", "read_text_file", "{\"path\":\"a\n\"}"),
		fs("byte order mark", "read_text_file", "\ufeff{\"path\":\"a.txt\"}"),
		{"unknown tool", "filesystem", "execute", `{"path":"a.txt"}`, Deny},
		{"tool with space", "filesystem", "read_text_file ", `{"path":"a.txt"}`, Deny},
		{"tool in capitals", "filesystem", "READ_TEXT_FILE", `{"path":"a.txt"}`, Deny},
		{"unknown server", "filesystems", "read_text_file", `{"path":"a.txt"}`, Deny},
		{"joined name", "", "filesystem__read_text_file", `{"path":"a.txt"}`, Deny},
		{"prototype as tool", "filesystem", "constructor", `{}`, Deny},
		{"prototype as server", "__proto__", "toString", `{}`, Deny},
		{"one outside of many", "filesystem", "read_multiple_files", `{"paths":["a.txt","{OUT}/secret.txt"]}`, Escalate},
		{"one protected of many", "filesystem", "read_multiple_files", `{"paths":["a.txt","{IRON}/config.json"]}`, Deny},
		{"move from outside", "filesystem", "move_file", `{"source":"{OUT}/secret.txt","destination":"got.txt"}`, Escalate},
		{"move to outside", "filesystem", "move_file", `{"source":"a.txt","destination":"{OUT}/got.txt"}`, Escalate},
		{"move a protected file", "filesystem", "move_file", `{"source":".env","destination":"env.txt"}`, Deny},
		{"move the directory of a protected file", "filesystem", "move_file", `{"source":"/workspace","destination":"{OUT}/box"}`, Deny},
		{"tree above protected files", "filesystem", "directory_tree", `{"path":"{ROOT}"}`, Deny},
		{"search above protected files", "filesystem", "search_files", `{"path":"/","pattern":"id_rsa"}`, Deny},
	})
}

func TestHostExecutionAttacks(t *testing.T) {
	var attacks []attack
	for _, p := range []string{
		".git/hooks/pre-commit", ".git/config", "repo/.git/hooks/post-checkout", "repo/.git/config", "repo/.git/info/attributes",
		"repo/.git/objects/info/alternates", ".git", "new/.git", "repo/.GIT/config", "repo/GIT~1/config", "repo/.git./config", "repo/.g\u200cit/config", ".gitattributes", "repo/.gitattributes",
		".gitmodules", ".envrc", "sub/.envrc", ".vscode/tasks.json", ".vscode/settings.json", ".VSCode/tasks.json", ".vscode",
		".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".husky/pre-commit", ".idea/workspace.xml",
		".devcontainer/devcontainer.json", ".cursor/mcp.json", ".gemini/settings.json", ".codex/config.toml",
		".devcontainer.json", ".lfsconfig", "lefthook.yaml", ".lefthook-local.toml", ".hg/hgrc", ".Rprofile", ".qwen/settings.json",
		".config/mise/config.toml", ".config/mise.toml", ".config/mise/conf.d/a.toml", "mise/config.toml", ".gemini/extensions/x/gemini-extension.json",
		".gemini/commands/x.toml", ".cursor/environment.json", ".cursor/commands/x.md", ".github/hooks/x.json", ".github",
		".vscode/c_cpp_properties.json", ".ycm_extra_conf.py", ".vimspector.json", ".pnp.cjs", ".bazelrc", ".npmrc", ".yarnrc", ".bundle/config",
	} {
		attacks = append(attacks, write(p, p, Escalate),
			attack{"directory " + p, "filesystem", "create_directory", `{"path":"/workspace/` + p + `"}`, Escalate},
			attack{"edit " + p, "filesystem", "edit_file", `{"path":"` + p + `","edits":[],"dryRun":true}`, Escalate},
			attack{"move to " + p, "filesystem", "move_file", `{"source":"a.txt","destination":"` + p + `"}`, Escalate})
	}
	judgeAll(t, attacks)
}

// TestStrayValues has a tool whose annotation overlooks an argument.
func TestStrayValues(t *testing.T) {
	a, err := ParseAnnotations("a.json", []byte(`{"servers":{"filesystem":{"tools":[{"toolName":"copy","args":{
		"source":["read-path"],"target":["none"],"options":["none"],"count":["none"],"content":["none"]}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := defaultEngine(t, func(c *Config) { c.Annotations = a })
	for args, want := range map[string]Decision{
		`"target":"b.txt"`:                        Allow,
		`"target":"b.txt","count":3`:              Allow,
		`"content":"/etc/passwd"`:                 Allow,
		`"options":{"mode":"fast","deep":true}`:   Allow,
		`"target":"/etc/cron.d/x"`:                Deny,
		`"target":" /etc/cron.d/x"`:               Deny,
		`"target":"../x"`:                         Deny,
		`"target":"~/x"`:                          Deny,
		`"target":"https://example.com/"`:         Deny,
		`"target":["a","/etc/x"]`:                 Deny,
		`"options":{"to":{"path":"/etc/x"}}`:      Deny,
		`"target":"file:x"`:                       Deny,
		`"options":[{"path":"a/../../../etc/x"}]`: Deny,
	} {
		v := e.Evaluate(Call{Server: "filesystem", Tool: "copy", Arguments: []byte(`{"source":"a.txt",` + args + `}`)})
		if v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", args, v.Decision, v.Rule, v.Reason, want)
		}
	}
}
