package approval

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

// TestWaitingCallsHaveABoundInBytes, of each session, which calls of a killed process
// take part of; there is room again when one was answered.
func TestWaitingCallsHaveABoundInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Bytes: 10_000})
		defer q.Close()
		long := func(session string, n int) Escalation {
			r := request(session, n)
			r.Arguments, r.Requested = json.RawMessage(strings.Repeat("x", 1500)), json.RawMessage(strings.Repeat("y", 1500))
			r.Effect = &preview.Effect{Lines: []preview.Line{{Text: strings.Repeat("z", 1000)}}}
			return r
		}
		former := long("s", 1)
		former.ID = "former"
		if _, err := q.Restore(former, nil); err != nil {
			t.Fatal(err)
		}
		ask(t.Context(), q, long("s", 2))
		ask(t.Context(), q, long("another", 3))
		synctest.Wait()
		var full *FullError
		if _, err := q.Ask(t.Context(), long("s", 4)); !errors.As(err, &full) || full.Bytes != 10_000 || full.Hint() == "" {
			t.Fatal(err)
		}
		q.settle("former", Denied, "tui", "")
		ask(t.Context(), q, long("s", 4))
		synctest.Wait()
		if n := len(q.Pending()); n != 3 {
			t.Errorf("%d calls wait", n)
		}
	})
}
