package approval

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

func TestEffectTextIsHarmless(t *testing.T) {
	got := effectText(&preview.Effect{
		Summary: "changes a\u202eb", Changed: true, More: 2,
		Lines: []preview.Line{{Kind: preview.Added, Text: "x\x1b[2J\n"}, {Kind: preview.Warning, Text: "careful"}, {Kind: preview.Note, Text: "n"}},
	})
	want := "    ! changed since it was shown: this is what it would do now\n    changes a\\u202eb\n    + x\\x1b[2J\\n\n    ! careful\n" +
		"      n\n    ! 2 more lines are too many to show; the arguments are complete\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.TrimSpace(effectText(nil)) != "" {
		t.Error("no effect is shown as one")
	}
}
