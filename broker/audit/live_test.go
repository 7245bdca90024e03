package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A log that is being written is whole, also when a line is half there at the moment.
func TestVerifyWhileTheLogIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := Open(path, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	long, err := json.Marshal(map[string]string{"content": strings.Repeat("x", 60<<10)})
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 80 {
				if err := l.Append(t.Context(), Record{Plane: PlaneTool, Decision: Allow, Arguments: long}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { writers.Wait(); close(written) }()
	for writing := true; writing; {
		select {
		case <-written:
			writing = false
		default:
		}
		if report, err := Verify(path); err != nil {
			t.Errorf("%v, %+v", err, report)
			break
		}
	}
	<-written
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLastTakesAnyNumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := Open(path, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := l.Append(t.Context(), Record{Plane: PlaneTool, Decision: Allow}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil { // with one more line
		t.Fatal(err)
	}
	for n, want := range map[int]int{-3: 0, 0: 0, 2: 2, 6: 6, 20: 6} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			lines, err := Last(path, n, func(Line) bool { return true })
			if err != nil || len(lines) != want || want > 0 && lines[want-1].Seq != 6 {
				t.Errorf("of the last %d there are %d, %v", n, len(lines), err)
			}
		})
	}
}

// A follower gets each line once, the rest of a half one when it is there, and
// goes on with a log that was cut.
func TestFollowerGetsEachLineOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f := Follow(path, 1)
	var got []uint64
	next := func() {
		t.Helper()
		if err := f.Next(func(l Line) error { got = append(got, l.Seq); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Next(nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{\"seq\":1}\n{\"seq\":2}\n{\"se")
	next()
	next()
	write("{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n{\"seq\":4}\n")
	next()
	write("{\"seq\":1}\n{\"seq\":2}\n")
	next()
	write("{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n{\"seq\":4}\n{\"seq\":5}\n")
	next()
	if want := []uint64{2, 3, 4, 5}; len(got) != len(want) || got[0] != 2 || got[3] != 5 {
		t.Errorf("got %v, wanted %v", got, want)
	}
}
