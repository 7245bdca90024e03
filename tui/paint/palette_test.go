package paint

import (
	"strings"
	"testing"
)

// Colors that a program set for its screen are drawn in its pane and change nothing
// next to it.
func TestProgramsOwnPalette(t *testing.T) {
	p := newPane(t, 20, 5)
	if got := p.paint(t, "\x1b]4;1;#102030\a\x1b[31mred"); !strings.Contains(got, "38;2;16;32;48") {
		t.Errorf("palette entry 1 is drawn as %q", got)
	}
	got := p.paint(t, "\x1b]11;#0a0b0c\a")
	if !strings.Contains(got, "48;2;10;11;12") || strings.Contains(got, "tab 1") {
		t.Errorf("the background is drawn as %q", got)
	}
	player := newPlayer(t, 20, 5)
	p.painter.Invalidate()
	player.write(p.bytes(t, nil))
	if diff := player.difference(p.canvas, Options{}); diff != "" {
		t.Error(diff)
	}
	if got := p.paint(t, "\x1b]104\a\x1b]111\a"); strings.Contains(got, ";2;") || !strings.Contains(got, "31") {
		t.Errorf("after the person's colors are back it is drawn as %q", got)
	}
}
