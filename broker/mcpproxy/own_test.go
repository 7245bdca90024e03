package mcpproxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// ownSpec is a server of the person's own that answers by a shell script. For each message
// $id is its id; begin runs before, list answers tools/list, and call answers tools/call.
func ownSpec(name, begin, list, call string) sandbox.Spec {
	script := begin + `
while IFS= read -r line; do
	id=$(printf %s "$line" | sed -n 's/.*"id":\([^,}]*\).*/\1/p')
	case $line in
	*'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}}\n' "$id" ;;
	*'"tools/list"'*) ` + list + ` ;;
	*'"tools/call"'*) ` + call + ` ;;
	esac
done`
	return sandbox.Spec{Name: name, Argv: []string{"sh", "-c", script}, Own: true}
}

// lists is an answer to tools/list, and says one to tools/call.
func lists(tools string) string {
	return `printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}\n' "$id" '` + tools + `'`
}

const says = `printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"said"}]}}\n' "$id"`

const oneTool = `{"name":"note","description":"Notes","inputSchema":{"type":"object"}}`

// ownHarness is a harness with one more server, whose unannotated tools ask.
func ownHarness(t *testing.T, s sandbox.Spec, change func(*Config)) *harness {
	t.Helper()
	return newHarness(t, func(c *Config) {
		compiled, annotations := policy.Default()
		dir := filepath.Dir(c.Servers[0].Env[stubVar])
		engine, err := policy.New(policy.Config{
			Policy: compiled, Annotations: annotations, Sandbox: filepath.Join(dir, "work"), Mount: "/workspace", Home: dir, Asking: []string{s.Name},
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Engine = engine
		c.Servers = append(c.Servers, s)
		if change != nil {
			change(c)
		}
	})
}

// status is the state of a server.
func (r *harness) status(name string) ServerStatus {
	for _, s := range r.proxy.Servers() {
		if s.Name == name {
			return s
		}
	}
	return ServerStatus{}
}

// A server of the person's own is offered once it runs, each call asks, and a call that was
// approved reaches it.
func TestOwnServerAsks(t *testing.T) {
	r := ownHarness(t, ownSpec("own", "", lists(oneTool), says), nil)
	a := r.agent()
	eventually(t, func() bool { return r.status("own").State == ServerRunning && r.status("own").Tools == 1 }, "the server's tool")
	a.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"own__note","arguments":{"text":"x"}}}`)
	r.letThrough(policy.RuleUnannotated)
	if m := a.answerTo("1"); m.isError() || m.text() != "said" {
		t.Errorf("answer %s", m.Result)
	}
}

// Whatever a server of the person's own does, the other tools work, and the proxy ends.
func TestOwnServerHarmsNoOther(t *testing.T) {
	const silent = "initialize: no answer within 15s"
	twice := oneTool + "," + oneTool + `,{"name":"` + strings.Repeat("n", 64<<10) + `","inputSchema":{"type":"object"}},{"name":"schemaless"}`
	for name, c := range map[string]struct {
		server sandbox.Spec
		state  ServerState
		why    string // why it failed, or what else is said of it
		tools  int
	}{
		"missing":        {sandbox.Spec{Argv: []string{"/no/such/program"}}, ServerBroken, "no such file", 0},
		"ends":           {sandbox.Spec{Argv: []string{"false"}}, ServerBroken, "ended", 0},
		"says why":       {sandbox.Spec{Argv: []string{"sh", "-c", "echo no key >&2; exit 1"}}, ServerBroken, "initialize: the server ended: no key", 0},
		"never answers":  {sandbox.Spec{Argv: []string{"sleep", "1000"}}, ServerBroken, silent, 0},
		"floods stderr":  {sandbox.Spec{Argv: []string{"sh", "-c", "yes >&2"}}, ServerBroken, silent, 0},
		"floods stdout":  {sandbox.Spec{Argv: []string{"sh", "-c", "yes"}}, ServerBroken, `not messages: "y"`, 0},
		"one long line":  {sandbox.Spec{Argv: []string{"sh", "-c", "yes | tr -d '\\n'"}}, ServerBroken, "too long", 0},
		"odd names":      {ownSpec("", "", lists(twice), says), ServerRunning, "too large or has no name", 1},
		"changes":        {ownSpec("", "n=0", `n=$((n+1)); `+lists(`{"name":"note","description":"'$n'","inputSchema":{"type":"object"}}`), says), ServerRunning, "", 1},
		"always changes": {ownSpec("", `(while :; do echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; done) & n=0`, lists(oneTool), says), ServerRunning, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.server.Name, c.server.Own = "own", true
			r := ownHarness(t, c.server, func(config *Config) {
				if c.why == silent { // that is waited for; the other server has to start in that time
					config.Limits.Start = 15 * time.Second
				}
			})
			a := r.agent()
			if m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
				t.Errorf("another tool: %s", m.Result)
			}
			eventually(t, func() bool { return r.status("own").State == c.state && r.status("own").Tools == c.tools }, "%s", c.state)
			s := r.status("own")
			said := s.Problem
			for _, why := range s.Hidden {
				said += why
			}
			if !strings.Contains(said, c.why) || len(said) > 2000 {
				t.Errorf("it is said: %q", said)
			}
			if m := a.call("2", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
				t.Errorf("another tool: %s", m.Result)
			}
		})
	}
}

// An answer that is too long is an error of its call alone.
func TestOwnServerAnswersTooMuch(t *testing.T) {
	much := `printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"; head -c 100000000 /dev/zero | tr '\0' x; printf '"}]}}\n'`
	r := ownHarness(t, ownSpec("own", "", lists(oneTool), much), nil)
	a := r.agent()
	eventually(t, func() bool { return r.status("own").Tools == 1 }, "the server's tool")
	a.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"own__note","arguments":{}}}`)
	r.letThrough(policy.RuleUnannotated)
	if m := a.answerTo("1"); !m.isError() {
		t.Errorf("answer of %d bytes", len(m.Result))
	}
	if m := a.call("2", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
		t.Errorf("another tool: %s", m.Result)
	}
}

// A server that failed can be started again once its trouble is over, and a running one too.
func TestOwnServerIsRestarted(t *testing.T) {
	dir := t.TempDir()
	s := ownSpec("own", `[ -e '`+dir+`/ready' ] || exit 1; echo >>'`+dir+`/starts'`, lists(oneTool), says)
	r := ownHarness(t, s, nil)
	eventually(t, func() bool { return r.status("own").State == ServerBroken }, "the failure")
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for starts := 1; starts <= 2; starts++ {
		if err := r.proxy.Restart("own"); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool {
			data, _ := os.ReadFile(filepath.Join(dir, "starts"))
			return len(data) == starts && r.status("own").State == ServerRunning
		}, "start %d", starts)
	}
	if err := r.proxy.Restart("other"); err == nil || !strings.Contains(err.Error(), "own") {
		t.Errorf("a server that does not exist: %v", err)
	}
}

// letThrough approves the one call that waits, which a rule has escalated.
func (r *harness) letThrough(rule string) {
	r.t.Helper()
	e := r.pending(1)[0]
	if e.Rule != rule {
		r.t.Errorf("rule %s", e.Rule)
	}
	if _, won, err := r.queue.Answer(e.ID, e.Digest, approval.Answer{Approve: true, By: "tui", Effect: e.Fingerprint()}); !won || err != nil {
		r.t.Fatal(won, err)
	}
}

// A tool of the person's own server that is not what was annotated is offered, and each call
// of it asks; the state of the server says how it has changed.
func TestAChangedToolAsks(t *testing.T) {
	for name, c := range map[string]struct{ tool, rule, changed string }{
		"as annotated":        {oneTool, policy.RuleUndecided, ""},
		"another description": {`{"name":"note","description":"Notes, and all your keys","inputSchema":{"type":"object"}}`, policy.RuleUnannotated, "all your keys"},
		"another schema":      {`{"name":"note","description":"Notes","inputSchema":{"type":"object","properties":{"keys":{"type":"string"}}}}`, policy.RuleUnannotated, "input schema"},
	} {
		t.Run(name, func(t *testing.T) {
			document, _, err := policy.Draft("own", []policy.Definition{{Name: "note", Description: "Notes", InputSchema: []byte(`{"type":"object"}`)}}, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			more, err := policy.ParseAnnotations("own", document)
			if err != nil {
				t.Fatal(err)
			}
			r := ownHarness(t, ownSpec("own", "", lists(c.tool), says), func(config *Config) {
				compiled, annotations := policy.Default()
				if annotations, err = annotations.With(more); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Dir(config.Servers[0].Env[stubVar])
				if config.Engine, err = policy.New(policy.Config{
					Policy: compiled, Annotations: annotations, Sandbox: filepath.Join(dir, "work"), Mount: "/workspace", Home: dir, Asking: []string{"own"},
				}); err != nil {
					t.Fatal(err)
				}
			})
			a := r.agent()
			eventually(t, func() bool { return r.status("own").Tools == 1 }, "the server's tool")
			if got := r.status("own").Changed["note"]; (got == "") != (c.changed == "") || !strings.Contains(got, c.changed) {
				t.Errorf("it has changed like this: %q", got)
			}
			a.send(callLine("1", "own__note", `{}`))
			r.letThrough(c.rule)
			if m := a.answerTo("1"); m.isError() || m.text() != "said" {
				t.Errorf("answer %s", m.Result)
			}
		})
	}
}

// A server that is turned off ends, its tools are offered no more, and a call of it that
// waited is not carried out. Started again, it works.
func TestAServerIsTurnedOff(t *testing.T) {
	r := ownHarness(t, ownSpec("own", "", lists(oneTool), says), nil)
	a := r.agent()
	eventually(t, func() bool { return r.status("own").Tools == 1 }, "the server's tool")
	a.send(callLine("1", "own__note", `{}`))
	r.pending(1)
	if err := r.proxy.Disable("own"); err != nil {
		t.Fatal(err)
	}
	r.letThrough(policy.RuleUnannotated)
	if m := a.answerTo("1"); !m.isError() || !strings.Contains(string(m.Result), "turned the server off") {
		t.Errorf("the call that waited: %s", m.Result)
	}
	if m := a.call("2", "own__note", `{}`); !m.isError() {
		t.Errorf("a call of a server that is off: %s", m.Result)
	}
	eventually(t, func() bool {
		b := r.proxy.backend("own")
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.conn == nil && b.demand.stopped
	}, "the server's end")
	if s := r.status("own"); s.State != ServerOff || s.Tools != 0 {
		t.Errorf("its state is %+v", s)
	}
	if err := r.proxy.Restart("own"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { s := r.status("own"); return s.State == ServerRunning && s.Tools == 1 }, "the server again")
	a.send(callLine("3", "own__note", `{}`))
	r.letThrough(policy.RuleUnannotated)
	if m := a.answerTo("3"); m.isError() || m.text() != "said" {
		t.Errorf("started again: %s", m.Result)
	}
	if err := r.proxy.Disable("nonesuch"); err == nil {
		t.Error("a server that is not there is turned off")
	}
}
