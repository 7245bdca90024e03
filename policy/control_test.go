package policy

import (
	"strings"
	"testing"
)

// TestOrdinaryWorkIsAllowed makes the calls that a coding agent makes all day. All must be
// allowed without asking, with every kind of annotations.
func TestOrdinaryWorkIsAllowed(t *testing.T) {
	w := newWorld(t)
	engines := map[string]*Engine{
		"shipped": w.engine(),
		"plain":   w.engine(func(c *Config) { c.Annotations = plainAnnotations(t) }),
	}
	for kind, e := range engines {
		for _, c := range []struct{ server, tool, args, forwarded string }{
			{"filesystem", "read_text_file", `{"path":"/workspace/a.txt"}`, `{"path":"{BOX}/a.txt"}`},
			{"filesystem", "read_text_file", `{ "path" : "a.txt" , "head" : 10 }`, `{"path":"{BOX}/a.txt","head":10}`},
			{"filesystem", "read_text_file", `{"path":"./src/../a.txt"}`, `{"path":"{BOX}/a.txt"}`},
			{"filesystem", "read_text_file", `{"path":"//workspace/./src//main.go"}`, `{"path":"{BOX}/src/main.go"}`},
			{"filesystem", "read_text_file", `{"path":"/../workspace/a.txt"}`, `{"path":"{BOX}/a.txt"}`},
			{"filesystem", "read_text_file", `{"path":"{BOX}/a.txt"}`, `{"path":"{BOX}/a.txt"}`},
			{"filesystem", "read_text_file", `{"path":"link-in"}`, `{"path":"{BOX}/a.txt"}`},
			{"filesystem", "read_text_file", `{"path":"link-src/main.go"}`, `{"path":"{BOX}/src/main.go"}`},
			{"filesystem", "read_text_file", `{"path":"hard-own"}`, `{"path":"{BOX}/hard-own"}`},
			{"filesystem", "write_file", `{"path":"dangling-in","content":""}`, `{"path":"{BOX}/not-yet.txt","content":""}`},
			{"filesystem", "write_file", `{"path":"new/deep/dir/file.ts","content":"a"}`, `{"path":"{BOX}/new/deep/dir/file.ts","content":"a"}`},
			{"filesystem", "write_file", `{"path":"routes/$slug.tsx","content":"../../etc/passwd -rf file:///x $HOME \u001b[0m"}`, ``},
			{"filesystem", "write_file", `{"path":"src/Outer$Inner.java","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"$slug.tsx","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"src/[id]/(group)/@x/page.tsx","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"docs/100%.md","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"docs/naïve café 漢字 👩‍💻.md","content":"日本語"}`, ``},
			{"filesystem", "write_file", `{"path":"a b/c d.txt","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"Makefile","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":".gitignore","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":".github/workflows/ci.yml","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"package.json","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"Gemfile","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"BUILD.bazel","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":".config/app.toml","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":".vscode/notes.md","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"src/mise.go","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":".gemini/GEMINI.md","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":".env.example","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"config","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"hooks/useThing.ts","content":"x"}`, ``},
			{"filesystem", "write_file", `{"path":"CLAUDE.md","content":"x"}`, ``},
			{"filesystem", "edit_file", `{"path":"a.txt","edits":[{"oldText":"a","newText":"b"}]}`, ``},
			{"filesystem", "edit_file", `{"path":"a.txt","edits":[{"oldText":"--x","newText":"/etc"}],"dryRun":true}`, ``},
			{"filesystem", "read_multiple_files", `{"paths":["a.txt","src/main.go"]}`, `{"paths":["{BOX}/a.txt","{BOX}/src/main.go"]}`},
			{"filesystem", "move_file", `{"source":"a.txt","destination":"b.txt"}`, ``},
			{"filesystem", "create_directory", `{"path":"/workspace/build/out"}`, ``},
			{"filesystem", "create_directory", `{"path":"/workspace"}`, ``},
			{"filesystem", "list_directory", `{"path":"/workspace"}`, `{"path":"{BOX}"}`},
			{"filesystem", "list_directory", `{"path":"/workspace/"}`, `{"path":"{BOX}"}`},
			{"filesystem", "list_directory_with_sizes", `{"path":".","sortBy":"size"}`, ``},
			{"filesystem", "directory_tree", `{"path":"src"}`, ``},
			{"filesystem", "search_files", `{"path":"src","pattern":"**/*.go","excludePatterns":["node_modules"]}`, ``},
			{"filesystem", "search_files", `{"path":"src","pattern":"a..b*","excludePatterns":["**/.git/**","*~"]}`, ``},
			{"filesystem", "get_file_info", `{"path":"repo/.git/config"}`, ``},
			{"filesystem", "list_allowed_directories", `{}`, `{}`},
			{"filesystem", "list_allowed_directories", ``, `{}`},
			{"git", "git_status", `{"path":"/workspace/repo"}`, `{"path":"{BOX}/repo"}`},
			{"git", "git_status", `{"path":"repo"}`, `{"path":"{BOX}/repo"}`},
			{"git", "git_status", `{"path":"/workspace/repo/sub"}`, ``},
			{"git", "git_status", `{}`, `{"path":"{BOX}"}`},
			{"git", "git_status", `{"path":"."}`, `{"path":"{BOX}"}`},
			{"git", "git_add", `{"path":"/workspace/repo","paths":["main.go","./sub/"]}`, `{"path":"{BOX}/repo","paths":["main.go","sub"]}`},
			{"git", "git_add", `{"path":"/workspace/repo","paths":["./-A","././:(top)x",".//~x","./D:x","./a"]}`, `{"path":"{BOX}/repo","paths":["./-A","./:(top)x","./~x","./D:x","a"]}`},
			{"git", "git_add", `{"path":"/workspace/repo","paths":["."]}`, ``},
			{"git", "git_add", `{"path":"/workspace/repo","paths":["*.go"]}`, ``},
			{"git", "git_add", `{"path":"/workspace/g/env","paths":["*.txt","sub/*","[abc]*.go","app/[id]/*"]}`, ``},
			{"git", "git_add", `{"path":"/workspace/repo","all":true}`, ``},
			{"git", "git_commit", `{"path":"/workspace/repo","message":"fix: handle -x, /etc/passwd and https://example.com\n\nBody"}`, ``},
			{"git", "git_commit", `{"path":"/workspace/repo","message":"x","author":{"name":"A B","email":"a@b.example"}}`, ``},
			{"git", "git_log", `{"path":"/workspace/repo","maxCount":5,"branch":"main..feature/x","grep":"^-fix"}`, ``},
			{"git", "git_log", `{"path":"/workspace/repo","filePath":"sub/file.txt"}`, ``},
			{"git", "git_diff", `{"path":"/workspace/repo","source":"HEAD~2","target":"HEAD^"}`, ``},
			{"git", "git_diff", `{"path":"/workspace/repo","staged":true,"paths":["main.go"]}`, ``},
			{"git", "git_show", `{"path":"/workspace/repo","object":"HEAD:main.go"}`, ``},
			{"git", "git_show", `{"path":"/workspace/repo/sub","object":"HEAD~1:./file.txt"}`, ``},
			{"git", "git_show", `{"path":"/workspace/g/env","object":"HEAD:a.txt"}`, ``},
			{"git", "git_add", `{"path":"/workspace/g/env","paths":["sub","a.txt"]}`, ``},
			{"git", "git_add", `{"path":"/workspace/repo","paths":[".gitattributes",".envrc"]}`, ``},
			{"git", "git_add", `{"path":"/workspace/repo/sub","paths":["{BOX}/repo/main.go"]}`, ``},
			{"git", "git_add", `{"path":"/workspace/repo/sub","paths":["/workspace/repo/main.go","./file.txt"]}`, `{"path":"{BOX}/repo/sub","paths":["{BOX}/repo/main.go","file.txt"]}`},
			{"git", "git_show", `{"path":"/workspace/repo","object":"HEAD@{1 day ago}"}`, ``},
			{"git", "git_blame", `{"path":"/workspace/repo","filePath":"main.go"}`, ``},
			{"git", "git_branch", `{"path":"/workspace/repo"}`, ``},
			{"git", "git_branch", `{"path":"/workspace/repo","mode":"create","branchName":"feature/new-thing_1.2"}`, ``},
			{"git", "git_branch", `{"path":"/workspace/repo","mode":"delete","branchName":"old"}`, ``},
			{"git", "git_checkout", `{"path":"/workspace/repo","target":"feature/x","createBranch":true}`, ``},
			{"git", "git_checkout", `{"path":"/workspace/repo","target":"HEAD","paths":["main.go"]}`, ``},
			{"git", "git_reset", `{"path":"/workspace/repo","mode":"hard","target":"HEAD~1"}`, ``},
			{"git", "git_rebase", `{"path":"/workspace/repo","upstream":"main"}`, ``},
			{"git", "git_merge", `{"path":"/workspace/repo","branch":"feature/x"}`, ``},
			{"git", "git_stash", `{"path":"/workspace/repo","mode":"pop","stashRef":"stash@{0}"}`, ``},
			{"git", "git_tag", `{"path":"/workspace/repo","mode":"create","tagName":"v1.2.3","message":"-x"}`, ``},
			{"git", "git_clean", `{"path":"/workspace/repo","force":true}`, ``},
			{"git", "git_remote", `{"path":"/workspace/repo","mode":"list"}`, ``},
			{"git", "git_remote", `{"path":"/workspace/repo","mode":"get-url","name":"origin"}`, ``},
			{"git", "git_worktree", `{"path":"/workspace/repo","mode":"list"}`, ``},
			{"git", "git_worktree", `{"path":"/workspace/repo","mode":"add","worktreePath":"/workspace/wt","branch":"x"}`, ``},
			{"git", "git_init", `{"path":"/workspace/new"}`, ``},
			{"git", "git_set_working_dir", `{"path":"/workspace/repo"}`, ``},
			{"git", "git_clear_working_dir", `{"confirm":"Y"}`, ``},
			{"git", "git_reflog", `{"path":"/workspace/repo"}`, ``},
			{"git", "git_cherry_pick", `{"path":"/workspace/repo","commits":["abc1234"]}`, ``},
		} {
			t.Run(kind+"/"+c.tool, func(t *testing.T) {
				v := e.Evaluate(Call{Server: c.server, Tool: c.tool, Arguments: []byte(w.expand(c.args))})
				if v.Decision != Allow {
					t.Fatalf("%s: %s by %s: %s", c.args, v.Decision, v.Rule, v.Reason)
				}
				if want := w.expand(c.forwarded); want != "" && string(v.Arguments) != want {
					t.Errorf("forwarded %s, want %s", v.Arguments, want)
				}
				fixedPoint(t, e, c.server, c.tool, v)
			})
		}
	}
}

// TestBeyondTheWorkspaceAsks makes calls about which a person must be asked.
func TestBeyondTheWorkspaceAsks(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	for _, c := range []struct{ server, tool, args string }{
		{"filesystem", "read_text_file", `{"path":"{IRON}/demo/outside/notes.txt"}`},
		{"filesystem", "write_file", `{"path":"{IRON}/demo/outside/new.txt","content":"x"}`},
		{"filesystem", "list_directory", `{"path":"{IRON}/demo/outside"}`},
		{"filesystem", "read_text_file", `{"path":"~/Documents/report.txt"}`},
		{"filesystem", "list_directory", `{"path":"/"}`},
		{"git", "git_push", `{"path":"/workspace/repo","branch":"main"}`},
		{"git", "git_pull", `{"path":"/workspace/repo"}`},
		{"git", "git_fetch", `{"path":"/workspace/repo","remote":"origin"}`},
		{"git", "git_clone", `{"url":"git@github.com:acme/widget.git","path":"widget"}`},
		{"fetch", "http_fetch", `{"url":"https://example.com","headers":{"Accept":"text/html"}}`},
		{"fetch", "http_fetch", `{"url":"http://example.com:8080/x"}`},
	} {
		v := e.Evaluate(Call{Server: c.server, Tool: c.tool, Arguments: []byte(w.expand(c.args))})
		if v.Decision != Escalate {
			t.Errorf("%s %s: %s by %s (%s)", c.tool, c.args, v.Decision, v.Rule, v.Reason)
			continue
		}
		if len(v.Roles) == 0 || len(v.Trace) == 0 || v.Digest == "" || strings.HasPrefix(v.Rule, "structural-") {
			t.Errorf("%s %s: roles %v, %d steps, rule %s", c.tool, c.args, v.Roles, len(v.Trace), v.Rule)
		}
		fixedPoint(t, e, c.server, c.tool, v)
	}
}
