package policy

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// Nothing is allowed when facts are missing, belong to another call or could not be
// gathered.
func TestJudgingWithoutFacts(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	c := Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"/workspace/repo"}`)}
	other := c
	other.Arguments = []byte(`{"path":"/workspace"}`)
	facts := e.collector.begin(t.Context()).gather(c)
	if v, err := e.judge.evaluate(c, facts); err != nil || v.Decision != Allow {
		t.Fatalf("%+v, %v", v, err)
	}
	if v, err := e.judge.evaluate(other, facts); err == nil {
		t.Errorf("by the facts of another call: %+v", v)
	}
	if v, err := e.judge.evaluate(c, nil); err == nil {
		t.Errorf("without facts: %+v", v)
	}
	facts.refused = errors.New("the disk cannot be read")
	if v, err := e.judge.evaluate(c, facts); err == nil || denial(err).Decision != Deny {
		t.Errorf("by facts that could not be gathered: %+v", v)
	}
}

// Once the facts are gathered, no change on the disk changes the verdict.
func TestJudgingIsPure(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	for _, c := range []Call{
		{Server: "git", Tool: "git_push", Arguments: []byte(`{"path":"/workspace/repo","remote":"origin"}`)},
		{Server: "git", Tool: "git_remote", Arguments: []byte(`{"path":"/workspace/repo","mode":"list"}`)},
		{Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"/workspace/.envrc","content":"x"}`)},
	} {
		facts := e.collector.begin(t.Context()).gather(c)
		before, err := e.judge.evaluate(c, facts)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(w.sandbox, w.sandbox+"-away"); err != nil {
			t.Fatal(err)
		}
		after, err := e.judge.evaluate(c, facts)
		if err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: %+v, then %+v, %v", c.Tool, before, after, err)
		}
		if err := os.Rename(w.sandbox+"-away", w.sandbox); err != nil {
			t.Fatal(err)
		}
	}
}

// The judge's files import nothing with which it could look at the file system.
func TestTheJudgeImportsNothingThatLooks(t *testing.T) {
	for _, file := range []string{"judge.go", "decide.go", "verdict.go", "explain.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			for _, not := range []string{"os", "io/", "path/filepath", "golang.org/x/sys", "policy/gitx", "policy/pathx"} {
				if name == not || strings.Contains(name, "/") && strings.Contains(name, not) && not != "os" {
					t.Errorf("%s imports %s", file, name)
				}
			}
		}
	}
}
