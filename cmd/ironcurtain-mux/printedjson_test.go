package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// disturbing has what JSON may contain raw and a terminal or a reader may not: DEL, C1
// controls, bidirectional, zero-width and tag characters.
const disturbing = "a\u007f\u0080\u009b\u202e\u2066\u200b\ufeff\U000e0041z"

// disturbingBroker knows one session whose agent wrote it.
type disturbingBroker struct{ broker.Calls }

func (disturbingBroker) Pending(context.Context) ([]broker.Escalation, error) {
	arguments, err := json.Marshal(map[string]string{"path": disturbing})
	return []broker.Escalation{{ID: "1", Server: disturbing, Arguments: arguments, Reason: disturbing}}, err
}

func (disturbingBroker) Sessions(context.Context) ([]broker.Session, error) {
	return []broker.Session{{ID: "1", Workspace: disturbing}}, nil
}

func (disturbingBroker) Grants(context.Context) ([]broker.Grant, error) {
	return []broker.Grant{{Number: 1, Text: disturbing}}, nil
}

// Whatever prints JSON of an agent's text prints plain ASCII that means the same.
func TestPrintedJSONIsPlainASCII(t *testing.T) {
	home, err := os.MkdirTemp("", "ic") // short: a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	t.Setenv("IRONCURTAIN_HOME", home)
	door, err := daemon.Listen(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() {
		d := &daemon.Daemon{Log: slog.New(slog.DiscardHandler), Calls: disturbingBroker{}, StandDown: func() {}}
		if err := d.Serve(ctx, door.UnixListener); err != nil {
			t.Error(err)
		}
	})
	defer func() { end(); served.Wait(); _ = door.Unlock() }()
	sandbox, record := t.TempDir(), filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(record, []byte(`{"seq":1,"reason":"`+disturbing+`"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	call := `{"path":"` + sandbox + `/x","content":"` + disturbing + `"}`
	for _, test := range []struct {
		args  []string
		input string
	}{
		{args: []string{"pending", "--json"}},
		{args: []string{"sessions", "ls", "--json"}},
		{args: []string{"rules", "--json"}},
		{args: []string{"audit", "tail", "--jsonl", record}},
		{args: []string{"audit", "show", "--jsonl", record}},
		{args: []string{"policy", "explain", "--json", "--sandbox", sandbox, "filesystem", "write_file", call}},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), test.args, strings.NewReader(test.input), &out, &errs); code != cli.ExitOK {
			t.Errorf("%v: exits %d: %s", test.args, code, errs.String())
		}
		plainJSON(t, test.args, out.Bytes())
	}
}

// plainJSON fails unless text is JSON in plain ASCII that has what disturbs.
func plainJSON(t *testing.T, from []string, text []byte) {
	t.Helper()
	if i := bytes.IndexFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }); i >= 0 {
		t.Errorf("%v prints %q", from, text[i:])
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Errorf("%v prints no JSON: %v in %s", from, err, text)
	}
	if again, _ := json.Marshal(value); !strings.Contains(string(again), "\u202e") {
		t.Errorf("%v does not print what disturbs: %s", from, text)
	}
}
