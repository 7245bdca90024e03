package schema

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// TestOneReasonForManyErrors: the same arguments are refused in the same words each time.
func TestOneReasonForManyErrors(t *testing.T) {
	source, err := jsonx.Parse([]byte(`{"properties":{"b":{"minLength":9},"a":{"type":"integer"},"c":{"enum":["x"]}}}`), jsonx.Limits{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	s := New(source)
	args, err := jsonx.Parse([]byte(`{"a":"text","b":"short","c":"y"}`), jsonx.Limits{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if got, want := s.Check(args), `argument "b" does not match the tool's schema`; got == nil || got.Error() != want {
			t.Fatalf("%v, want %s", got, want)
		}
	}
}
