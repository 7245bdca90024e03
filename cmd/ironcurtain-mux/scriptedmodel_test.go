package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptedModel is a provider that speaks Anthropic's wire format and answers
// questions about policies from a file: for "filesystem rules" and the like a list
// of answers, the last of which is repeated. The answer "hang" never comes, and a
// number is an error with that status.
type scriptedModel struct {
	answers map[string][]json.RawMessage
	mu      sync.Mutex
	asked   map[string]int
	prompts strings.Builder
	hit     chan string // bounded, lossy: the questions, for whoever waits for one
}

var (
	serverOfQuestion = regexp.MustCompile(`The server is ([a-z-]+)\.`)
	listOfQuestion   = regexp.MustCompile(`\\?"name\\?":\\?"([a-z0-9-]+)\\?"`)
)

// key names a question: what it is about and what is asked.
func (m *scriptedModel) key(user string, schema map[string]any) string {
	of := func(re *regexp.Regexp) string {
		if found := re.FindStringSubmatch(user); found != nil {
			return found[1]
		}
		return ""
	}
	for member, kind := range map[string]string{"rules": "rules", "scenarios": "scenarios", "operations": "patch"} {
		if _, ok := schema[member]; ok {
			return of(serverOfQuestion) + " " + kind
		}
	}
	return of(listOfQuestion) + " values"
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		System   []struct{ Text string }
		Messages []struct{ Content []struct{ Text string } }
		Output   struct {
			Format struct {
				Schema struct{ Properties map[string]any }
			}
		} `json:"output_config"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/v1/messages" || len(q.Messages) != 1 ||
		r.Header.Get("X-Api-Key") != "sk-ant-api03-scripted" {
		http.Error(w, `{"type":"error"}`, http.StatusUnauthorized)
		return
	}
	user := q.Messages[0].Content[0].Text
	key := m.key(user, q.Output.Format.Schema.Properties)
	m.mu.Lock()
	n := m.asked[key]
	m.asked[key]++
	m.prompts.WriteString("== " + key + "\n" + q.System[0].Text + "\n" + user + "\n")
	m.mu.Unlock()
	select {
	case m.hit <- key:
	default:
	}
	all := m.answers[key]
	if len(all) == 0 {
		http.Error(w, `{"type":"error"}`, http.StatusNotFound)
		return
	}
	m.answer(w, r, all[min(n, len(all)-1)])
}

func (m *scriptedModel) answer(w http.ResponseWriter, r *http.Request, raw json.RawMessage) {
	text := string(raw)
	var status int
	var word string
	switch {
	case json.Unmarshal(raw, &status) == nil:
		http.Error(w, `{"type":"error"}`, status)
		return
	case json.Unmarshal(raw, &word) == nil && word == "hang":
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		return
	case word != "":
		text = word // text that is no JSON, or not what was asked for
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": nil,
		"content": []any{map[string]any{"type": "text", "text": text}}, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	})
}

// models are the scripted models of scripts, by the script's directory.
var models sync.Map

// startModel is the script command "model FILE": it starts a scripted model with
// the answers of a file, and sets MODEL to its address.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	m := &scriptedModel{asked: map[string]int{}, hit: make(chan string, 100)}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &m.answers))
	server := httptest.NewServer(m)
	ts.Defer(server.Close)
	ts.Defer(server.CloseClientConnections)
	models.Store(ts.Getenv("WORK"), m)
	ts.Setenv("MODEL", "api.anthropic.com="+server.URL)
}

// waitForQuestion is the script command "question KIND": it waits until the model
// is asked that.
func waitForQuestion(ts *testscript.TestScript, neg bool, args []string) {
	m, ok := models.Load(ts.Getenv("WORK"))
	if neg || !ok || len(args) != 1 {
		ts.Fatalf("usage: question KEY, after model")
	}
	late := time.After(time.Minute)
	for {
		select {
		case key := <-m.(*scriptedModel).hit:
			if key == args[0] {
				return
			}
		case <-late:
			ts.Fatalf("the model was not asked %q", args[0])
		}
	}
}

// prompts is the script command "prompts FILE": it writes down what the model was
// asked so far.
func prompts(ts *testscript.TestScript, neg bool, args []string) {
	m, ok := models.Load(ts.Getenv("WORK"))
	if neg || !ok || len(args) != 1 {
		ts.Fatalf("usage: prompts FILE, after model")
	}
	sm := m.(*scriptedModel)
	sm.mu.Lock()
	defer sm.mu.Unlock()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(sm.prompts.String()), 0o600))
}

// buildAsk puts the program that asks models beside the program under test.
func buildAsk(t *testing.T) { t.Helper(); buildBeside(t, "ironcurtain-mux-ask") }

// buildBeside puts another program beside the program under test, and returns the path of
// that. It is built as "make build" does it, which then has compiled its large libraries
// already.
func buildBeside(t testing.TB, name string) string {
	t.Helper()
	program, err := exec.LookPath("ironcurtain-mux")
	if err != nil {
		t.Fatal(err)
	}
	once, _ := besides.LoadOrStore(name, sync.OnceValue(func() error {
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(filepath.Dir(program), name), "../"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
		return nil
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return program
}

// besides build the programs beside the program under test, each once for all tests.
var besides sync.Map // string to func() error
