package view

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// A past of long answers is shown again with memory for what is shown: its process has little,
// and the session could not go on without it.
func TestALongPast(t *testing.T) {
	var past []builtin.Event
	for i := range 300 {
		past = append(past, builtin.Event{Kind: builtin.Said, Text: strings.Repeat(fmt.Sprintf("answer %d of many words\n\n", i), 64<<10/24)})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := &model{cols: 80, rows: 24, input: newInput()}
	m.remember(past)
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 100 || len(m.above) != pastRows+1 {
		t.Errorf("%d MiB for %d rows", n, len(m.above))
	}
}
