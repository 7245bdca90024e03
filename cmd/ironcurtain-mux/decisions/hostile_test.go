package decisions

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// hostileStrings is the corpus of what an agent may write to be misread.
func hostileStrings(t *testing.T) []string {
	t.Helper()
	f, err := os.Open("../../../tui/testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		s, err := strconv.Unquote(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := lines.Err(); err != nil || len(out) < 200 {
		t.Fatalf("%d strings, %v", len(out), err)
	}
	return out
}

// plainLine fails unless text is one line of printable ASCII.
func plainLine(t *testing.T, text string) {
	t.Helper()
	line, ok := strings.CutSuffix(text, "\n")
	for _, b := range []byte(line) {
		ok = ok && b >= ' ' && b <= '~'
	}
	if !ok {
		t.Fatalf("no plain line: %q", text)
	}
}

// What other commands print of an agent's strings is one plain line that reads
// back exactly.
func TestPrintedStringsReadBack(t *testing.T) {
	for _, s := range hostileStrings(t) {
		valid := utf8.ValidString(s)
		arguments, err := json.Marshal(map[string]string{"path": s})
		if err != nil {
			t.Fatal(err)
		}
		var pending strings.Builder
		err = PrintPending(&pending, []WaitingCall{{Escalation: broker.Escalation{ID: "1", Server: s, Tool: s, Arguments: arguments, Reason: s}}})
		if err != nil {
			t.Fatal(err)
		}
		_, row, _ := strings.Cut(pending.String(), "\n") // below the headings
		plainLine(t, row)
		if !strings.HasSuffix(row, "  "+strconv.QuoteToASCII(s)+"\n") || !strings.Contains(pending.String(), strconv.QuoteToASCII(string(arguments))) {
			t.Fatalf("%q is not in %s", s, pending.String())
		}

		seen := autoApprovalText(broker.Escalation{Auto: &broker.AutoReview{Receipt: 1, Reason: s}})
		plainLine(t, seen)
		if s != "" && !strings.Contains(seen, strconv.QuoteToASCII(s)) {
			t.Fatalf("%q is not in %s", s, seen)
		}

		record := RecordText(audit.Line{Record: audit.Record{Server: "s", Tool: "t", Arguments: arguments, Rule: s, DecidedBy: s}})
		plainLine(t, record+"\n")
		_, rest, _ := strings.Cut(record, " s/t ")
		var read map[string]string
		if err := json.NewDecoder(strings.NewReader(rest)).Decode(&read); err != nil || valid && read["path"] != s {
			t.Fatalf("%q reads back as %q from %s (%v)", s, read["path"], record, err)
		}

		var log strings.Builder
		slog.New(slog.NewJSONHandler(cli.ASCIIWriter{To: &log}, nil)).Error("it failed", "error", s)
		plainLine(t, log.String())
		var line struct{ Error string }
		if err := json.Unmarshal([]byte(log.String()), &line); err != nil || valid && line.Error != s {
			t.Fatalf("%q reads back as %q from %s (%v)", s, line.Error, log.String(), err)
		}

		var rules strings.Builder
		if err := printGrants(&rules, []broker.Grant{{Number: 1, Scope: s, By: s, Text: s}}); err != nil {
			t.Fatal(err)
		}
		_, row, _ = strings.Cut(rules.String(), "\n")
		plainLine(t, row)
	}
}
