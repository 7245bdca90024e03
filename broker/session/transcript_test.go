package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// A transcript holds bounded texts without secrets, says how a turn ended, and stops when it
// is full. The person is told then.
func TestTranscriptIsBoundedAndHasNoSecrets(t *testing.T) {
	const secret = "a-secret-that-nobody-must-see-4711"
	d := testDeps(t, Config{Secrets: []string{secret}})
	told := d.Events.(*recorder).notices
	s := &Session{deps: d, layout: stored.Layout{Dir: t.TempDir()}, program: &docker.Container{}}
	s.keepTurn(Task{Text: "use " + secret}, time.Now(), Turn{Text: strings.Repeat("x", transcriptText+1), End: TurnAnswered}, nil)
	s.keepTurn(Task{Text: "second"}, time.Now(), Turn{}, errors.New("the engine is away"))
	data, err := os.ReadFile(s.layout.Turns())
	if err != nil {
		t.Fatal(err)
	}
	var lines []transcriptLine
	for line := range bytes.Lines(data) {
		var l transcriptLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) != 2 || strings.Contains(string(data), secret) || len(lines[0].Text) > transcriptText+len("…") || lines[0].End != TurnAnswered ||
		lines[1].End != TurnInterrupted || lines[1].Failure != "the engine is away" {
		t.Errorf("%.300s", data)
	}
	if err := os.Truncate(s.layout.Turns(), transcriptQuota); err != nil {
		t.Fatal(err)
	}
	s.keepTurn(Task{Text: "third"}, time.Now(), Turn{}, nil)
	if info, err := os.Stat(s.layout.Turns()); err != nil || info.Size() != transcriptQuota {
		t.Errorf("%v, %v", info, err)
	}
	if n := <-told; !strings.Contains(n.Text, "has reached 64 MiB") {
		t.Errorf("told %q", n.Text)
	}
}
