package mcpproxy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// partsOfMCP are the rows of the table in SECURITY.md, each with its proof. own is a real
// server of the person's own, the reference server; asks is one that sends a request to
// whoever calls it, and answers with what it got.
var partsOfMCP = map[string]func(p partsCase){
	"tools": func(p partsCase) { p.passes("echo", `{"message":"hello"}`, "hello") },
	"text, images and audio": func(p partsCase) {
		p.passes("get-tiny-image", `{}`, `"type":"image"`)
		p.passes("echo", `{"message":"`+partsSecret+`"}`, "[REDACTED]")
	},
	"structured content": func(p partsCase) {
		p.passes("get-structured-content", `{"location":"Chicago"}`, `"structuredContent":{`)
	},
	"resources in an answer": func(p partsCase) {
		p.passes("get-resource-links", `{"count":1}`, `"type":"resource_link"`)
		p.passes("get-resource-reference", `{"resourceType":"Text","resourceId":1}`, `"type":"resource"`)
	},
	"progress": func(p partsCase) {
		p.a.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"own__trigger-long-running-operation","arguments":{"duration":0.2,"steps":2},"_meta":{"progressToken":"mine"}}}`)
		p.approve()
		for told := 0; ; {
			m := p.a.receive()
			if m.Method == "notifications/progress" && strings.Contains(string(m.Params), `"progressToken":"mine"`) && strings.Contains(string(m.Params), `"total":2`) {
				told++
			}
			if string(m.ID) == "1" {
				if told == 0 {
					p.t.Errorf("no progress, then %s", m.Result)
				}
				return
			}
		}
	},
	"cancellation": func(p partsCase) {
		p.a.send(callLine("1", "asks__hear", "{}"))
		p.approve()
		eventually(p.t, func() bool { _, err := os.Stat(filepath.Join(p.r.work, "called")); return err == nil }, "the call")
		p.a.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		eventually(p.t, func() bool {
			heard, _ := os.ReadFile(filepath.Join(p.r.work, "heard"))
			return strings.Contains(string(heard), "notifications/cancelled")
		}, "the server to hear of it")
	},
	"roots":       func(p partsCase) { p.answered("roots/list", "file:///workspace") },
	"sampling":    func(p partsCase) { p.answered("sampling/createMessage", "this client does not offer that") },
	"elicitation": func(p partsCase) { p.answered("elicitation/create", "this client does not offer that") },
	"resources": func(p partsCase) {
		p.refused("resources/list", "resources/read", "resources/templates/list", "resources/subscribe")
	},
	"prompts":    func(p partsCase) { p.refused("prompts/list", "prompts/get") },
	"completion": func(p partsCase) { p.refused("completion/complete") },
	"log messages": func(p partsCase) {
		p.refused("logging/setLevel")
		p.a.send(callLine("1", "own__toggle-simulated-logging", "{}"))
		p.approve()
		for {
			m := p.a.receive()
			if m.Method == "notifications/message" {
				p.t.Errorf("a log message reaches the agent: %s", m.Params)
			}
			if string(m.ID) == "1" {
				return
			}
		}
	},
}

const partsSecret = "sk-parts-5ecretZ7wq91x"

type partsCase struct {
	t *testing.T
	r *harness
	a *agent
}

// approve lets the one waiting call through.
func (p partsCase) approve() {
	p.t.Helper()
	if e := p.r.pending(1)[0]; e.Rule != policy.RuleUnannotated {
		p.t.Errorf("it asks by the rule %s", e.Rule)
	}
	p.r.decide(1, true)
}

// passes calls a tool of the reference server, which must answer.
func (p partsCase) passes(tool, arguments, want string) {
	p.t.Helper()
	p.a.send(callLine("1", "own__"+tool, arguments))
	p.approve()
	if m := p.a.answerTo("1"); m.isError() || !strings.Contains(string(m.Result), want) || strings.Contains(string(m.Result), partsSecret) {
		p.t.Errorf("%s: %.300s", tool, m.Result)
	}
}

// answered has a server send a request, which must get that answer.
func (p partsCase) answered(method, want string) {
	p.t.Helper()
	p.a.send(callLine("1", "asks__ask", `{"method":"`+method+`"}`))
	p.approve()
	if m := p.a.answerTo("1"); m.isError() || !strings.Contains(m.text(), want) {
		p.t.Errorf("%s was answered %s", method, m.Result)
	}
}

// refused sends requests of the agent, of which there must be no such method.
func (p partsCase) refused(methods ...string) {
	p.t.Helper()
	for _, method := range methods {
		p.a.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"uri":"demo://resource/1","name":"simple-prompt","level":"debug"}}`)
		if m := p.a.answerTo("1"); m.Error == nil || !strings.Contains(m.Error.Message, "no such method") {
			p.t.Errorf("%s: %s, %+v", method, m.Result, m.Error)
		}
	}
}

// What SECURITY.md says of each part of MCP holds for real servers of the person's own, and
// it says so of each.
func TestPartsOfMCP(t *testing.T) {
	doc, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(doc), "| part of MCP | what happens to it |\n|---|---|\n")
	table, _, ends := strings.Cut(table, "\n\n")
	if !found || !ends {
		t.Fatal("SECURITY.md has no such table")
	}
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(table, -1)
	if len(rows) != len(partsOfMCP) {
		t.Errorf("the table has %d rows, and %d are tried", len(rows), len(partsOfMCP))
	}
	withServers := realServers(t)
	for _, row := range rows {
		t.Run(row[1], func(t *testing.T) {
			try := partsOfMCP[row[1]]
			if try == nil {
				t.Fatal("nothing tries this row")
			}
			r := newHarness(t, func(c *Config) {
				work := filepath.Join(filepath.Dir(c.Servers[0].Env[stubVar]), "work")
				withServers(c)
				own := c.Servers[len(c.Servers)-1]
				own.Name, own.Own = "own", true
				asks := asking(work)
				compiled, annotations := policy.Default()
				var err error
				if c.Engine, err = policy.New(policy.Config{
					Policy: compiled, Annotations: annotations, Sandbox: work, Mount: "/workspace", Home: filepath.Dir(work), Asking: []string{"own", "asks"},
				}); err != nil {
					t.Fatal(err)
				}
				c.Servers, c.Secrets = []sandbox.Spec{own, asks}, []string{partsSecret}
			})
			a := r.agent()
			eventually(t, func() bool { return r.status("own").Tools > 0 && r.status("asks").Tools == 2 }, "the servers' tools")
			try(partsCase{t, r, a})
		})
	}
}

// asking is a server that sends a request, with the method that the call's arguments name, to
// whoever calls it, and answers with what it got. Its other tool writes into the directory
// work that it was called, and what it is told next.
func asking(work string) sandbox.Spec {
	s := ownSpec("asks", "cd "+work, lists(`{"name":"ask","inputSchema":{"type":"object"}},{"name":"hear","inputSchema":{"type":"object"}}`), `case $line in
		*'"hear"'*) touch called; IFS= read -r heard; printf '%s\n' "$heard" >heard ;;
		*)
			method=$(printf %s "$line" | sed -n 's/.*"arguments":{"method":"\([a-zA-Z/]*\)".*/\1/p')
			printf '{"jsonrpc":"2.0","id":"s1","method":"%s","params":{}}\n' "$method"
			IFS= read -r got
			printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$id" "$(printf %s "$got" | sed 's/"/\\"/g')" ;;
		esac`)
	s.Roots = []string{work}
	return s
}
