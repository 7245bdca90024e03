package audit

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFullLogRefusesWhatIsNewAndLosesNothing: decisions and ends of what was under way
// still find room, and what was refused is counted.
func TestAFullLogRefusesWhatIsNewAndLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var told []error
	log, err := Open(path, Options{NoSync: true, Quota: 16 << 10, State: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	write := func(plane string, d Decision) error {
		return log.Append(context.Background(), Record{Plane: plane, Decision: d, Call: "c", Reason: strings.Repeat("x", 500)})
	}
	for n := 0; log.Full() == nil; n++ {
		if n > 100 {
			t.Fatal("it is never full")
		}
		if err := write(PlaneTool, Allow); err != nil {
			t.Fatal(err)
		}
	}
	var full *FullError
	for _, d := range []Decision{Allow, Deny} {
		if err := write(PlaneHTTP, d); !errors.As(err, &full) || full.Hint() == "" {
			t.Errorf("%s: %v", d, err)
		}
	}
	ends := []Decision{Allow, Deny, Done, Failed, EscalatedApproved, EscalatedWithdrawn} // of calls that were judged before
	for _, d := range ends {
		if err := write(PlaneTool, d); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !errors.As(told[0], &full) {
		t.Errorf("the person was told %v", told)
	}
	var notes []Line
	if err := Read(path, func(l Line) error {
		if l.Decision == Noted {
			notes = append(notes, l)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 2 || !strings.Contains(notes[0].Reason, "used up") || notes[1].Detail["refused"] != float64(3) {
		t.Errorf("it says of itself %+v", notes)
	}
	again, err := Open(path, Options{NoSync: true, Quota: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if again.Full() == nil {
		t.Error("opened again it is not full")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(path); err != nil {
		t.Error(err)
	}
}
