package start

import (
	"slices"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
)

// The parts of a line keep how they came when white space or a slash is cut off.
func TestALineKeepsWhatWasPasted(t *testing.T) {
	l := typedLine{text: "  /a bc ", spans: []receipt.Span{{Start: 0, End: 4}, {Start: 4, End: 6, Pasted: true}, {Start: 6, End: 8}}}
	l = l.trim()
	l = l.cut(1, len(l.text))
	want := []receipt.Span{{Start: 0, End: 1}, {Start: 1, End: 3, Pasted: true}, {Start: 3, End: 4}}
	if l.text != "a bc" || !slices.Equal(l.spans, want) {
		t.Errorf("%q %v", l.text, l.spans)
	}
	if blank := (typedLine{text: " \t"}).trim(); blank.text != "" {
		t.Errorf("%q", blank.text)
	}
}
