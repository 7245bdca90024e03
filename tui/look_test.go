package tui

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// lookScene shows as much of the look as fits one screen: tabs, an agent, the panel with an
// effect, the command line, and the status line with an error.
func lookScene(t *testing.T, theme string) *harness {
	t.Helper()
	r := newHarness(t, 90, 30, Options{Theme: theme, Workspace: "/home/me/project", Phrase: "amber fox"})
	r.keys("\x01/new shell\r\x1b1")
	r.agentSays(1, "\x1b[1m> make the parser keep blank lines, and note it in the shared changelog\x1b[m\r\n\r\n"+
		"● 214 tests pass. I changed parser.go and parser_test.go.\r\n● Now I write ../shared/CHANGES.md …\r\n")
	r.state(1, broker.StateWaiting)
	r.state(2, broker.StateWorking)
	call := escalation(7, `{"path":"/home/me/shared/CHANGES.md"}`, `{"path":"../shared/CHANGES.md"}`)
	call.Effect = &broker.Effect{
		Kind: "diff", Summary: "changes /home/me/shared/CHANGES.md: 2 lines added, 1 line removed",
		Lines: []broker.EffectLine{
			{Kind: broker.EffectHunk, Text: "@@ -1,3 +1,4 @@"},
			{Kind: broker.EffectSame, Text: "# Changes"},
			{Kind: broker.EffectRemoved, Text: "- nothing yet"},
			{Kind: broker.EffectAdded, Text: "- The parser keeps blank lines."},
			{Kind: broker.EffectAdded, Text: "- \u202eThe tests cover them."},
			{Kind: broker.EffectWarning, Text: "a file outside the workspace"},
		},
	}
	r.send(brokerMsg{msgOf(call)})
	r.keys("\x01/aprove 7\r")
	return r
}

// The pictures in docs show the same scene in each theme, as the program draws it now.
// "make picture" draws them anew.
func TestLook(t *testing.T) {
	black, white := term.RGB(0x1e, 0x1e, 0x1e), term.RGB(0xff, 0xff, 0xff)
	for _, c := range []struct {
		theme    string
		profile  paint.ColorProfile
		fg, bg   term.Color
		contains string // what the terminal is told
	}{
		{"dark", paint.ANSI256, term.RGB(0xd0, 0xd0, 0xd0), black, "\x1b[38;5;111m"},
		{"light", paint.ANSI256, term.RGB(0x22, 0x22, 0x22), white, "\x1b[38;5;25m"},
		{"16", paint.ANSI16, term.RGB(0x22, 0x22, 0x22), white, "\x1b[31m"},
		{"none", paint.NoColor, term.RGB(0xd0, 0xd0, 0xd0), black, "\x1b[1;4m"},
	} {
		t.Run(c.theme, func(t *testing.T) {
			r := lookScene(t, c.theme)
			drawing := view.NewCompositor(&recorder{harness: r}, c.profile, false, func() {}, func(uint64, time.Time) {})
			drawing.Publish(r.scene)
			bytesOf := paint.NewPainter(paint.Options{Colors: c.profile}).Paint(drawing.Draw())
			if !bytes.Contains(bytesOf, []byte(c.contains)) {
				t.Errorf("the terminal is not told %q", c.contains)
			}
			screen, err := term.NewScreen(term.Options{Cols: 90, Rows: 30, Foreground: c.fg, Background: c.bg})
			if err != nil {
				t.Fatal(err)
			}
			defer screen.Close()
			_, _ = screen.Write(bytesOf)
			var picture bytes.Buffer
			if err := screen.DumpSVG(&picture); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("..", "docs", "look-"+c.theme+".svg")
			if *update {
				if err := os.WriteFile(path, picture.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			kept, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(kept, picture.Bytes()) {
				t.Errorf("%s is not what is drawn now; \"make picture\" draws it anew", path)
			}
		})
	}
}
