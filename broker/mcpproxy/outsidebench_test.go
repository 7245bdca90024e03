package mcpproxy

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkApproved measures from the person's approval to the answer: of a write in the
// workspace that asks, and of one outside, whose process was started while the person
// thought. It reports the medians.
func BenchmarkApproved(b *testing.B) {
	r := newHarness(b, onStages(b))
	a := r.agent()
	var inside, outside []time.Duration
	n := 0
	approved := func(path string, warm func()) time.Duration {
		n++
		a.send(callLine(fmt.Sprint(n), "filesystem__write_file", fmt.Sprintf(`{"path":%q,"content":"%d"}`, path, n)))
		item := r.pending(1)[0]
		warm()
		began := time.Now()
		if _, won, err := r.queue.Decide(item.ID, item.Digest, true, "tui", ""); !won || err != nil {
			b.Fatal(won, err)
		}
		if m := a.answerTo(fmt.Sprint(n)); m.isError() {
			b.Fatal(m.text())
		}
		return time.Since(began)
	}
	files := r.proxy.backends[0]
	for b.Loop() {
		inside = append(inside, approved("/workspace/.envrc", func() {}))
		outside = append(outside, approved(filepath.Join(r.outside, "note.txt"), func() {
			for {
				files.stages.mu.Lock()
				now := files.stages.now
				files.stages.mu.Unlock()
				if now != nil {
					<-now.ready
					return
				}
			}
		}))
	}
	for name, all := range map[string][]time.Duration{"inside": inside, "outside": outside} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name+"-ms")
	}
}
