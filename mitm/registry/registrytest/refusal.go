package registrytest

import (
	"errors"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Refusal returns the refusal that an error is. Its text must fit a reason phrase.
func Refusal(t testing.TB, err error) *registry.Refusal {
	t.Helper()
	var r *registry.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("no refusal: %v", err)
	}
	if strings.ContainsFunc(r.Text, func(c rune) bool { return c < ' ' || c > '~' }) {
		t.Errorf("not fit for a reason phrase: %q", r.Text)
	}
	return r
}

// Refused checks that an error is a refusal for a reason.
func Refused(t testing.TB, err error, reason registry.Reason) {
	t.Helper()
	if r := Refusal(t, err); r.Reason != reason {
		t.Errorf("%s: %s; want %s", r.Reason, r.Text, reason)
	}
}
