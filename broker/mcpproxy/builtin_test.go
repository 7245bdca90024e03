package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// domainTool is a tool of the host that counts what it is run with.
func domainTool(ran *[]string) Builtin {
	return Builtin{
		Server: policy.ProxyServer, Name: "add_proxy_domain", Description: "Opens a domain",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"domain":{"type":"string"},"justification":{"type":"string"}},"required":["domain","justification"]}`),
		Check: func(arguments json.RawMessage) error {
			if strings.Contains(string(arguments), "taken.example.org") {
				return errors.New("it is open already")
			}
			return nil
		},
		Run: func(_ context.Context, arguments json.RawMessage) (any, error) {
			*ran = append(*ran, string(arguments))
			return map[string]string{"status": "added"}, nil
		},
	}
}

func TestBuiltinIsJudgedApprovedAndRecorded(t *testing.T) {
	var ran []string
	r := newHarness(t, func(c *Config) { c.Builtins = []Builtin{domainTool(&ran)} })
	a := r.agent()
	a.send(callLine("1", "proxy__add_proxy_domain", `{"domain":"Docs.Example.org.","justification":"to read"}`))
	item := r.pending(1)[0]
	if ran != nil {
		t.Fatal("it ran before anybody approved")
	}
	if _, _, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, By: "tui"}); err != nil {
		t.Fatal(err)
	}
	if m := a.answerTo("1"); m.isError() || m.text() != `{"status":"added"}` {
		t.Fatalf("answer %s", m.Result)
	}
	if len(ran) != 1 || ran[0] != `{"domain":"docs.example.org","justification":"to read"}` || ran[0] != string(item.Arguments) {
		t.Fatalf("it ran with %q, shown was %s", ran, item.Arguments)
	}
	if d := r.decisions(); len(d) != 1 || d[0].Decision != audit.EscalatedApproved || d[0].Server != policy.ProxyServer {
		t.Fatalf("records %+v", d)
	}
}

// Nobody is asked for what could not work out, and nothing runs that could
// not be recorded.
func TestBuiltinFailsClosed(t *testing.T) {
	var ran []string
	r := newHarness(t, func(c *Config) { c.Builtins = []Builtin{domainTool(&ran)} })
	a := r.agent()
	for _, domain := range []string{"taken.example.org", "10.0.0.1", "localhost", "a..b", "example.org/path", "example.org:443"} {
		t.Run(domain, func(t *testing.T) {
			m := a.call("2", "proxy__add_proxy_domain", `{"domain":"`+domain+`","justification":"x"}`)
			if !m.isError() || !strings.Contains(m.text(), "DENIED") {
				t.Errorf("%s: answer %s", domain, m.Result)
			}
		})
	}
	a.send(callLine("3", "proxy__add_proxy_domain", `{"domain":"docs.example.org","justification":"x"}`))
	item := r.pending(1)[0]
	r.log.set(errors.New("no space left on device"))
	if _, _, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, By: "tui"}); err != nil {
		t.Fatal(err)
	}
	if m := a.answerTo("3"); !m.isError() {
		t.Errorf("answer %s", m.Result)
	}
	r.log.set(nil)
	if ran != nil {
		t.Errorf("it ran with %q", ran)
	}
}

func TestServerCannotTakeTheHostsName(t *testing.T) {
	r := newHarness(t, nil)
	c := r.proxy.config
	c.Servers = append(c.Servers[:1:1], stubSpec(t, policy.ProxyServer, r.stub))
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "reserved") {
		t.Fatalf("got %v", err)
	}
}
