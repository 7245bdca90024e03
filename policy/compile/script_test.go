package compile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/compile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a model that answers from a table. Keys such as "filesystem rules" or "docs
// values" have a list of answers, and the last answer is repeated.
type script struct {
	answers map[string][]string
	mu      sync.Mutex
	asked   []compile.Question
	keys    []string
	err     error // instead of every answer
	stop    func()
}

var (
	serverLine = regexp.MustCompile(`The server is ([a-z-]+)\.`)
	listLine   = regexp.MustCompile(`"name":"([a-z0-9-]+)"`)
)

func (m *script) Name() string { return "test/script" }

func (m *script) Ask(ctx context.Context, q compile.Question) (string, error) {
	of := serverLine
	if q.Name == "values" {
		of = listLine
	}
	key := of.FindStringSubmatch(q.User)[1] + " " + q.Name
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, k := range m.keys {
		if k == key {
			n++
		}
	}
	m.asked, m.keys = append(m.asked, q), append(m.keys, key)
	if m.stop != nil {
		m.stop()
		return "", ctx.Err()
	}
	all := m.answers[key]
	if m.err != nil || len(all) == 0 {
		return "", errors.Join(m.err, fmt.Errorf("no answer for %s", key))
	}
	switch got := all[min(n, len(all)-1)]; got {
	case cut:
		return "", compile.ErrCut
	case tooMuch:
		return "", errors.New("the provider answered 400 Bad Request")
	default:
		return got, nil
	}
}

func (m *script) lastUser(key string) string {
	for i := len(m.keys) - 1; i >= 0; i-- {
		if m.keys[i] == key {
			return m.asked[i].User
		}
	}
	return ""
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

type object = map[string]any

// rule is a proposed rule for the filesystem server.
func rule(name, then string, condition object) object {
	c := object{"server": []string{"filesystem"}, "tool": nil, "roles": nil, "paths": nil, "domains": nil, "lists": nil}
	for k, v := range condition {
		c[k] = v
	}
	return object{"name": name, "description": "d", "principle": "p", "if": c, "then": then, "reason": "because of that"}
}

func rules(all ...object) string {
	return encode(object{"rules": append([]object{}, all...), "listDefinitions": []object{}})
}

func within(dir string, roles ...string) object {
	return object{"paths": object{"roles": roles, "within": dir}}
}

func scenario(tool, expected string, args object) object {
	return object{"description": tool + " " + expected, "tool": tool, "arguments": encode(args), "expectedDecision": expected}
}

func scenarios(all ...object) string { return encode(object{"scenarios": all}) }

func patch(operations []object, corrections ...object) string {
	return encode(object{"operations": append([]object{}, operations...), "listDefinitions": []object{}, "corrections": append([]object{}, corrections...)})
}

var (
	goodRules = rules(
		rule("allow-read-documents", "allow", within("~/Documents", "read-path")),
		rule("escalate-reads", "escalate", object{"roles": []string{"read-path"}}),
	)
	goodScenarios = scenarios(
		scenario("read_text_file", "allow", object{"path": "~/Documents/report.txt"}),
		scenario("read_text_file", "escalate", object{"path": "~/Downloads/archive.zip"}),
		scenario("write_file", "deny", object{"path": "~/Documents/report.txt", "content": "x"}),
	)
)

// shipped are the annotations that the product ships.
var shipped = sync.OnceValue(func() *policy.Annotations { _, a := policy.Default(); return a })

// Answers that make Ask fail: cut is an answer that was cut off; tooMuch means that
// MaxTokens is more than the model supports.
const cut, tooMuch = "\x00cut", "\x00too much"

// options compile the filesystem server of the shipped annotations.
func options(t *testing.T, o compile.Options) compile.Options {
	t.Helper()
	home := t.TempDir()
	if o.Annotations == nil {
		o.Annotations = shipped()
	}
	if o.Servers == nil {
		o.Servers = []string{"filesystem"}
	}
	var err error
	if o.Constitution.Text == "" {
		if o.Constitution, err = compile.ParseConstitution([]byte("Documents may be read. Ask me before other files are read.")); err != nil {
			t.Fatal(err)
		}
	}
	o.Machine = compile.Machine{Home: home, Protected: []string{filepath.Join(home, ".ssh"), filepath.Join(home, ".ironcurtain"), filepath.Join(home, "work", "secret")}}
	if o.World, err = compile.NewWorld(t.TempDir(), "", o.Machine); err != nil {
		t.Fatal(err)
	}
	o.Now = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	return o
}

func run(t *testing.T, m *script, o compile.Options) (*compile.Result, error) {
	t.Helper()
	return compile.Run(t.Context(), m, options(t, o))
}

// good is a model whose answers are all correct.
func good() *script {
	return &script{answers: map[string][]string{"filesystem rules": {goodRules}, "filesystem scenarios": {goodScenarios}}}
}
