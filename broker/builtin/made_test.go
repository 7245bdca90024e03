package builtin

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// However many calls programs make, what is kept of them, in memory and in the file, is what a
// model is given, and the next process gives it the same.
func TestWhatIsKeptOfCallsIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		tools, most int // bytes in the file for a program of 500 calls
	}{"of one tool": {1, 300}, "of two in turns": {2, 32 << 10}} {
		t.Run(name, func(t *testing.T) {
			f := &file{}
			h, err := OpenHistory(f)
			if err != nil {
				t.Fatal(err)
			}
			for program := range 40 {
				var all calls
				for i := range 500 {
					all.report(Call{Index: i + 1, Tool: fmt.Sprintf("files/%d", i%c.tools), About: fmt.Sprintf("%d %d %s", program, i, strings.Repeat("x", 100)), State: CallDone})
				}
				all.report(Call{Index: 501, Tool: "files/last", About: fmt.Sprint(program), State: CallFailed})
				m, before := all.effective(), f.Len()
				if err := h.add(entry{Made: m.calls, Left: m.left}); err != nil {
					t.Fatal(err)
				}
				if size := f.Len() - before; size > c.most {
					t.Fatalf("a program takes %d bytes", size)
				}
			}
			list := h.made.list()
			if len(list) > maxMade+200 || !strings.HasSuffix(list, "\n- files/last 39 (with an error)") {
				t.Errorf("%d bytes: %.300s", len(list), list)
			}
			if c.tools == 1 && (strings.Count(list, "\n") != 80 || !strings.Contains(list, " and 499 more of it\n- files/last 0 (with an error)")) {
				t.Errorf("%.300s", list)
			}
			if c.tools == 2 && !strings.Contains(list, fmt.Sprintf("(%d earlier lines are left out)", 40*501-strings.Count(list, "\n")+1)) {
				t.Errorf("%.300s", list)
			}
			again, err := OpenHistory(bytes.NewBuffer(f.Bytes()))
			if err != nil || again.made.list() != list {
				t.Errorf("%v: the next process lists %.300s", err, again.made.list())
			}
		})
	}
}
