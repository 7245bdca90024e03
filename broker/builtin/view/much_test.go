package view

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/alone"
)

// A past of long answers is shown again with memory for what is shown: its process has little,
// and the session could not go on without it.
func TestALongPast(t *testing.T) {
	if !alone.Run(t) {
		return // the allocations are counted of the whole process
	}
	allocated := func(answers int) uint64 {
		var past []builtin.Event
		for i := range answers {
			past = append(past, builtin.Event{Kind: builtin.Said, Text: strings.Repeat(fmt.Sprintf("answer %d of many words\n\n", i), 64<<10/24)})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := &model{cols: 80, rows: 24, input: newInput()}
		m.remember(past)
		runtime.ReadMemStats(&after)
		if len(m.above) != pastRows+1 {
			t.Errorf("%d rows of %d answers", len(m.above), answers)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(30), allocated(300); many > 2*few {
		t.Errorf("%d MiB for 30 answers, %d MiB for 300", few>>20, many>>20)
	}
}
