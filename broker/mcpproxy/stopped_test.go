package mcpproxy

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
)

// While a session is stopped, no call goes on, not even one that needs nobody.
func TestAStoppedSessionCallsNothing(t *testing.T) {
	var stopped atomic.Bool
	r := newHarness(t, func(c *Config) {
		c.Stopped = func() error {
			if stopped.Load() {
				return errors.New("the time is used up")
			}
			return nil
		}
	})
	a := r.agent()
	if m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
		t.Fatal(m.text())
	}
	stopped.Store(true)
	if m := a.call("2", "filesystem__read_text_file", `{"path":"/workspace/b"}`); !m.isError() || !strings.Contains(m.text(), "the time is used up") {
		t.Errorf("while it is stopped: %s", m.Result)
	}
	stopped.Store(false)
	if m := a.call("3", "filesystem__read_text_file", `{"path":"/workspace/c"}`); m.isError() {
		t.Errorf("afterwards: %s", m.text())
	}
}
