package policy

import (
	"strings"
	"testing"
)

// FuzzEvaluate: the engine answers any input. When a call is allowed or escalated, its
// forwarded bytes get the same verdict. Files are allowed only inside the sandbox.
func FuzzEvaluate(f *testing.F) {
	w := newWorld(f)
	e := w.engine()
	for _, s := range []struct{ server, tool, args string }{
		{"filesystem", "read_text_file", `{"path":"/workspace/link-out/../a.txt"}`},
		{"filesystem", "move_file", `{"source":"dangling","destination":"~/x"}`},
		{"filesystem", "read_multiple_files", `{"paths":["a.txt","//workspace/./src"]}`},
		{"filesystem", "edit_file", `{"path":".git/config","edits":[{"oldText":"a","newText":"\u2028"}]}`},
		{"git", "git_push", `{"path":"repo","remote":"git@github.com:a/b","branch":"main"}`},
		{"git", "git_add", `{"path":"g/gitfile","paths":["./a/","*.go"]}`},
		{"git", "git_show", `{"object":"HEAD@{1 day ago}:x"}`},
		{"git", "git_clone", `{"url":"https://github.com/a/b","path":"x"}`},
		{"fetch", "http_fetch", `{"url":"https://bücher.de/a/../b?ü#x","headers":{"Accept":"*/*"}}`},
		{"proxy", "add_proxy_domain", `{"domain":"Example.com.","justification":"x"}`},
	} {
		f.Add(s.server, s.tool, []byte(s.args))
	}
	f.Fuzz(func(t *testing.T, server, tool string, args []byte) {
		v := e.Evaluate(Call{Server: server, Tool: tool, Arguments: args})
		if (v.Arguments == nil) != (v.Decision == Deny) || v.Rule == "" || v.Reason == "" {
			t.Fatalf("%+v", v)
		}
		if strings.ContainsFunc(v.Reason, func(r rune) bool { return r < 0x20 }) {
			t.Fatalf("reason %q", v.Reason)
		}
		if v.Reason == reasonAnotherMeaning {
			t.Fatalf("the canonical form of %s means something else", args)
		}
		if v.Decision == Deny {
			return
		}
		fixedPoint(t, e, server, tool, v)
		for _, s := range v.Trace {
			if Role(s.Role).IsPath() && v.Decision == Allow && !strings.HasPrefix(s.Value, w.sandbox) {
				t.Fatalf("allowed %q", s.Value)
			}
		}
	})
}

func TestAnswerLine(t *testing.T) {
	e, root := defaultEngine(t, func(c *Config) { c.MaxCall = 300 })
	for line, want := range map[string]string{
		`{"id":"1","server":"filesystem","tool":"read_file","arguments":{"path":"a"}}`: `{"id":"1","decision":"allow","rule":"structural-sandbox-allow","reason":"the files lie inside the sandbox",` +
			`"arguments":{"path":"` + root + `/sandbox/a"},"trace":[{"argument":"path","role":"read-path","value":"` + root + `/sandbox/a","rule":"structural-sandbox-allow","decision":"allow"}]}`,
		`{"id":7,"server":"filesystem","tool":"read_file","arguments":{"path":"a","path":"b"}}`:         `{"id":7,"decision":"deny","rule":"invalid-arguments","reason":"the arguments are refused: duplicate name at line 1, byte 12","trace":[]}`,
		"{\"id\":8,\"server\":\"filesystem\",\"tool\":\"read_file\",\"arguments\":{\"path\":\"\xff\"}}": `{"id":8,"decision":"deny","rule":"invalid-arguments","reason":"the arguments are refused: invalid UTF-8 at line 1, byte 9","trace":[]}`,
		`{"id":1790000000000000001,"server":"x","tool":"y"}`:                                            `{"id":1790000000000000001,"decision":"deny","rule":"structural-unknown-tool","reason":"the tool is not annotated","trace":[]}`,
		`{"id":1e999,"server":"x","tool":"y"}`:                                                          `{"id":null,"decision":"deny","rule":"structural-invalid-request","reason":"the line is not a call","trace":[]}`,
		`{"id":7,"server":"proxy","tool":"add_proxy_domain","arguments":{"domain":"docs.example.org"}}`: `{"id":7,"decision":"deny","rule":"invalid-arguments","reason":"the arguments do not match the tool's schema","trace":[]}`,

		`{"server":"x","tool":"y"}`: `{"id":null,"decision":"deny","rule":"structural-unknown-tool","reason":"the tool is not annotated","trace":[]}`,
		``:                          `{"id":null,"decision":"deny","rule":"structural-invalid-request","reason":"the line is not a call","trace":[]}`,
		`[]`:                        `{"id":null,"decision":"deny","rule":"structural-invalid-request","reason":"the line is not a call","trace":[]}`,
		`{"id":"1","tool":"y"}`:     `{"id":null,"decision":"deny","rule":"structural-invalid-request","reason":"the line is not a call","trace":[]}`,
		`{"id":"1","server":"a","server":"b","tool":"y"}`: `{"id":null,"decision":"deny","rule":"structural-invalid-request","reason":"the line is not a call","trace":[]}`,
		`{"id":{"a":1},"server":"a","tool":"y"}`:          `{"id":null,"decision":"deny","rule":"structural-invalid-request","reason":"the line is not a call","trace":[]}`,
		`{"id":"9","server":"filesystem","tool":"write_file","arguments":{"path":"a","content":"` + strings.Repeat("x", 400): `{"id":"9","decision":"deny","rule":"structural-invalid-request","reason":"the call is too large","trace":[]}`,
	} {
		if got := string(e.AnswerLine([]byte(line)).Line()); got != want {
			t.Errorf("%.90s\ngot  %s\nwant %s", line, got, want)
		}
	}
}
