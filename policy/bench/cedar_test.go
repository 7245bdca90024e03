// Package bench compares the engine with Cedar: the same thousand rules and the same
// question in one run.
package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

const rules = 1000

// setting is a directory with a file in it, and the two engines with their rules. Each
// rule allows one tool below one directory; the last one allows the tool of the call.
type setting struct {
	file   string
	engine *policy.Engine
	cedar  *cedar.PolicySet
}

func newSetting(b *testing.B) setting {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s := setting{file: filepath.Join(dir, "open", "a", "b", "c", "file.txt"), cedar: cedar.NewPolicySet()}
	box := filepath.Join(dir, "box")
	for _, d := range []string{filepath.Dir(s.file), box} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(s.file, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	var ours []string
	for i := range rules {
		tool, within := fmt.Sprintf("tool_%d", i), fmt.Sprintf("/srv/p%d", i)
		if i == rules-1 {
			tool, within = "read_text_file", filepath.Join(dir, "open")
		}
		ours = append(ours, fmt.Sprintf(`{"name":"r%d","if":{"server":["filesystem"],"tool":[%q],"paths":{"roles":["read-path"],"within":%q}},"then":"allow"}`, i, tool, within))
		var p cedar.Policy
		if err := p.UnmarshalCedar(fmt.Appendf(nil, `permit(principal, action == Tool::%q, resource) when { context.path like %q };`, tool, within+"/*")); err != nil {
			b.Fatal(err)
		}
		s.cedar.Add(cedar.PolicyID(fmt.Sprint(i)), &p)
	}
	compiled, err := policy.ParseCompiled("rules.json", []byte(`{"rules":[`+strings.Join(ours, ",")+`]}`))
	if err != nil {
		b.Fatal(err)
	}
	_, annotations := policy.Default()
	if s.engine, err = policy.New(policy.Config{Policy: compiled, Annotations: annotations, Sandbox: box, Mount: "/workspace", Home: dir}); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkEngine measures a whole judgment: from the bytes of the call, through schema,
// the file's real path and the decision, to canonical bytes and a trace.
func BenchmarkEngine(b *testing.B) {
	s := newSetting(b)
	call := policy.Call{Server: "filesystem", Tool: "read_text_file", Arguments: fmt.Appendf(nil, `{"path":%q}`, s.file)}
	b.ReportAllocs()
	for b.Loop() {
		if v := s.engine.Evaluate(call); v.Decision != policy.Allow {
			b.Fatalf("%+v", v)
		}
	}
}

// BenchmarkCedar measures only the decision, on a path that is resolved already.
func BenchmarkCedar(b *testing.B) {
	s := newSetting(b)
	request := cedar.Request{
		Principal: cedar.NewEntityUID("Agent", "a"), Action: cedar.NewEntityUID("Tool", "read_text_file"), Resource: cedar.NewEntityUID("Server", "filesystem"),
		Context: cedar.NewRecord(cedar.RecordMap{"path": cedar.String(s.file)}),
	}
	b.ReportAllocs()
	for b.Loop() {
		if decision, d := cedar.Authorize(s.cedar, cedar.EntityMap{}, request); decision != cedar.Allow {
			b.Fatalf("%+v", d)
		}
	}
}

// BenchmarkCedarThreeOutcomes asks Cedar twice, because Cedar itself cannot escalate.
func BenchmarkCedarThreeOutcomes(b *testing.B) {
	s := newSetting(b)
	request := cedar.Request{
		Principal: cedar.NewEntityUID("Agent", "a"), Action: cedar.NewEntityUID("Tool", "read_text_file"), Resource: cedar.NewEntityUID("Server", "filesystem"),
		Context: cedar.NewRecord(cedar.RecordMap{"path": cedar.String(s.file)}),
	}
	ask := cedar.NewPolicySet() // the same rules again, none of which applies to this path
	for i := range rules {
		var p cedar.Policy
		if err := p.UnmarshalCedar(fmt.Appendf(nil, `permit(principal, action == Tool::"tool_%d", resource) when { context.path like "/srv/p%d/*" };`, i, i)); err != nil {
			b.Fatal(err)
		}
		ask.Add(cedar.PolicyID(fmt.Sprint(i)), &p)
	}
	b.ReportAllocs()
	for b.Loop() {
		escalate, _ := cedar.Authorize(ask, cedar.EntityMap{}, request)
		decision, _ := cedar.Authorize(s.cedar, cedar.EntityMap{}, request)
		if escalate == cedar.Allow || decision != cedar.Allow {
			b.Fatal("another decision")
		}
	}
}
