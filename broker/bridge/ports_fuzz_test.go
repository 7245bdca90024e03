package bridge

import (
	"bytes"
	"strings"
	"testing"
)

// Hellos come from the container, and requests from a socket in it: neither is trusted.
func FuzzPortLines(f *testing.F) {
	var hello bytes.Buffer
	_ = Hello{HelloOutward, OutwardTicket(8080)}.write(&hello)
	f.Add(hello.String())
	f.Add(string(Request{Verb: VerbConnect, Port: 8080, Ticket: Ticket{1}}.Line()))
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := ReadHello(strings.NewReader(text)); err == nil {
			var again bytes.Buffer
			if h.write(&again) != nil || !strings.EqualFold(again.String(), text[:helloSize]) {
				t.Errorf("%q is read as %q", text, &again)
			}
		}
		if r, err := parseRequest(text); err == nil {
			if again, err := parseRequest(strings.TrimSuffix(string(r.Line()), "\n")); err != nil || again != r {
				t.Errorf("%+v is read as %+v, %v", r, again, err)
			}
		}
	})
}
