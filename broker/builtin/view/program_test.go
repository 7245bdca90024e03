package view

import (
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// Calls that were under way at once take no longer together than the person has waited.
func TestCallsTakeTheirTimeTogether(t *testing.T) {
	at := time.Unix(1000, 0)
	call := func(ended, took time.Duration) builtin.Call {
		return builtin.Call{Ended: at.Add(ended), Took: took}
	}
	for _, c := range []struct {
		name string
		a, b builtin.Call
		want time.Duration
	}{
		{"at once", call(5*time.Second, 4*time.Second), call(6*time.Second, 4*time.Second), 5 * time.Second},
		{"one within the other", call(6*time.Second, 6*time.Second), call(3*time.Second, time.Second), 6 * time.Second},
		{"one after the other", call(2*time.Second, 2*time.Second), call(5*time.Second, 2*time.Second), 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := together(c.a, c.b).Took; got != c.want {
				t.Errorf("a, then b: %v, want %v", got, c.want)
			}
			if got := together(c.b, c.a).Took; got != c.want {
				t.Errorf("b, then a: %v, want %v", got, c.want)
			}
		})
	}
}
