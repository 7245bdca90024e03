package term

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func frameText(f *Frame) []string {
	var lines []string
	for _, l := range f.Lines {
		var b strings.Builder
		writeText(&b, trimBlank(l.Cells))
		lines = append(lines, b.String())
	}
	return lines
}

func TestSnapshotCopiesOnlyWhatChanged(t *testing.T) {
	s := play(t, "native", 20, 3, 0, []byte("one\r\ntwo\r\nthree"))
	defer s.Close()
	var f Frame
	s.Snapshot(&f, 0)
	if diff := cmp.Diff([]string{"one", "two", "three"}, frameText(&f)); diff != "" {
		t.Fatal(diff)
	}
	marked := Cell{Rune: '!', Width: 1}
	for y := range f.Lines {
		f.Lines[y].Cells[19] = marked
	}
	before := s.Generation()
	_, _ = s.Write([]byte("\x1b[2;1HTWO"))
	if s.Generation() <= before {
		t.Error("the generation did not grow")
	}
	s.Snapshot(&f, 0)
	for y, want := range []Cell{marked, {Width: 1}, marked} {
		if f.Lines[y].Cells[19] != want {
			t.Errorf("line %d was copied: %v", y, y != 1)
		}
	}
	if f.Lines[1].Generation != f.Generation || f.Lines[0].Generation >= f.Generation {
		t.Errorf("generations %d and %d of %d", f.Lines[0].Generation, f.Lines[1].Generation, f.Generation)
	}
}

func TestSnapshotOfAnotherScreenIsWhole(t *testing.T) {
	a := play(t, "native", 20, 2, 0, []byte("first"))
	defer a.Close()
	b := play(t, "native", 20, 2, 0, []byte("other"))
	defer b.Close()
	var f Frame
	a.Snapshot(&f, 0)
	b.Snapshot(&f, 0)
	if got := frameText(&f)[0]; got != "other" {
		t.Errorf("shows %q", got)
	}
	b.Close()
	b.Snapshot(&f, 0)
	if f.Lines != nil {
		t.Error("a closed screen shows something")
	}
}

func TestScrollingBack(t *testing.T) {
	var lines strings.Builder
	for i := range 10 {
		lines.WriteString("line " + string(rune('0'+i)) + "\r\n")
	}
	s := play(t, "native", 20, 3, 0, []byte(lines.String()+"\x1b[31mend"))
	defer s.Close()
	var f Frame
	s.Snapshot(&f, 2)
	if diff := cmp.Diff([]string{"line 6", "line 7", "line 8"}, frameText(&f)); diff != "" {
		t.Error(diff)
	}
	if f.Offset != 2 || f.Scrollback != 8 {
		t.Errorf("offset %d of %d", f.Offset, f.Scrollback)
	}
	s.Snapshot(&f, 99)
	if f.Offset != 8 || frameText(&f)[0] != "line 0" {
		t.Errorf("offset %d shows %q", f.Offset, frameText(&f))
	}
	_, _ = s.Write([]byte("\r\nmore"))
	s.Snapshot(&f, 8)
	if got := frameText(&f)[0]; got != "line 1" {
		t.Errorf("after more output the frame begins with %q", got)
	}
	s.Snapshot(&f, 0)
	if diff := cmp.Diff([]string{"line 9", "end", "more"}, frameText(&f)); diff != "" {
		t.Error(diff)
	}
	_, _ = s.Write([]byte("\x1b[?1049h"))
	if s.Snapshot(&f, 5); f.Offset != 0 || f.Scrollback != 0 || !f.AltScreen {
		t.Errorf("the alternate screen is scrolled back: %d of %d", f.Offset, f.Scrollback)
	}
}

func TestTextAndLine(t *testing.T) {
	s := play(t, "native", 10, 2, 0, []byte("a long line that wraps\r\n漢字\x1b[1mbold\x1b[m  \r\nend"))
	defer s.Close()
	if diff := cmp.Diff([]string{"a long lin", "e that wra", "ps", "漢字bold", "end"}, s.Text(0, 99)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ps"}, s.Text(2, 1)); diff != "" {
		t.Error(diff)
	}
	if n := s.LineCount(); n != 5 {
		t.Errorf("%d lines", n)
	}
	for i, want := range []bool{true, true, false, false, false} {
		if _, wrapped := s.Line(i); wrapped != want {
			t.Errorf("line %d runs on: %v", i, wrapped)
		}
	}
	cells, _ := s.Line(3)
	if cells[0].Rune != '漢' || cells[0].Width != 2 || cells[1].Width != 0 || cells[4].Style.Attr != Bold {
		t.Errorf("cells %+v", cells)
	}
	if cells, wrapped := s.Line(5); cells != nil || wrapped {
		t.Error("there is a line beyond the last")
	}
	if s.Text(-3, 0) != nil || s.Text(77, 3) != nil {
		t.Error("there is text beyond the lines")
	}
}

func TestPromptsAreFound(t *testing.T) {
	s := play(t, "native", 20, 2, 0, []byte("\x1b]133;A\a$ ls\r\nfile\r\nfile\r\n\x1b]133;A\a$ "))
	defer s.Close()
	if diff := cmp.Diff([]int{0, 3}, s.Prompts()); diff != "" {
		t.Error(diff)
	}
}

func TestHoldEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, "native", 20, 2, 0, nil)
		defer s.Close()
		if s.Held() {
			t.Error("held at first")
		}
		_, _ = s.Write([]byte("\x1b[?2026hhalf"))
		if !s.Held() {
			t.Error("not held in an update")
		}
		_, _ = s.Write([]byte("\x1b[?2026l"))
		if s.Held() {
			t.Error("held after the update")
		}
		_, _ = s.Write([]byte("\x1b[?2026h"))
		for range 20 { // without a pause, without an end
			<-time.After(10 * time.Millisecond)
			_, _ = s.Write([]byte("\x1b[?2026l\x1b[?2026h"))
		}
		if s.Held() {
			t.Error("held for longer than the limit")
		}
		var f Frame
		_, _ = s.Write([]byte("\x1b[?2026l"))
		s.Snapshot(&f, 0)
		_, _ = s.Write([]byte("\x1b[?2026h"))
		if !s.Held() {
			t.Error("not held after a frame was taken")
		}
	})
}

// Two frames do not delay each other: one that is always taken in the middle of an update waits
// as long as if it were alone, and shows whole updates until then.
func TestHoldIsPerFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, "native", 20, 2, 0, []byte("\x1b[?2026hwhole 0\x1b[?2026l"))
		defer s.Close()
		var quick, late Frame
		s.Follow(&quick)
		s.Follow(&late)
		text := func(f *Frame) string {
			var b strings.Builder
			writeText(&b, trimBlank(f.Lines[0].Cells))
			return b.String()
		}
		began := time.Now()
		for i := 1; text(&late) == "whole 0"; i++ {
			_, _ = fmt.Fprintf(s, "\x1b[?2026h\rhalf  %d", i)
			s.Follow(&late)
			if took := time.Since(began); took > maxHold {
				t.Fatalf("held up for %v", took)
			} else if took < maxHold && text(&late) != "whole 0" {
				t.Fatalf("after %v the frame shows %q", took, text(&late))
			}
			s.Follow(&quick)
			_, _ = fmt.Fprintf(s, "\rwhole %d\x1b[?2026l", i)
			s.Follow(&quick)
			if want := fmt.Sprint("whole ", i); text(&quick) != want {
				t.Fatalf("the quick frame shows %q, want %q", text(&quick), want)
			}
			<-time.After(10 * time.Millisecond)
		}
	})
}

func TestChangedWakes(t *testing.T) {
	s := play(t, "native", 20, 2, 0, nil)
	defer s.Close()
	<-s.Changed()
	_, _ = s.Write([]byte("x"))
	_, _ = s.Write([]byte("y"))
	<-s.Changed()
	select {
	case <-s.Changed():
		t.Error("two changes woke twice")
	default:
	}
	before := s.Generation()
	_, _ = s.Write([]byte("\x1b[c"))
	if s.Generation() != before {
		t.Error("a question changed the screen")
	}
}

func TestScreenServesManyAtOnce(t *testing.T) {
	s := play(t, "native", 40, 10, 0, nil)
	raw := readStream(t, "claude_session")
	var wait sync.WaitGroup
	wait.Go(func() { _, _ = s.Write(raw) })
	wait.Go(func() {
		for i := range 50 {
			s.Resize(20+i, 5+i%7)
		}
	})
	wait.Go(func() {
		var f Frame
		for i := range 100 {
			s.Snapshot(&f, i%9)
			s.Text(0, 20)
			s.Line(i)
			s.TakeReplies()
			s.Held()
			s.Modes()
		}
	})
	wait.Wait()
	checkFaultless(t, s)
	s.Close()
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("a closed screen takes bytes")
	}
	s.Resize(3, 3)
	s.Close()
}

func TestUnknownEngine(t *testing.T) {
	if _, err := NewScreen(Options{Cols: 2, Rows: 2, Engine: "xterm"}); err == nil {
		t.Error("no error")
	}
}

// After an emulator fails, the screen starts over with an empty one.
func TestFaultIsContained(t *testing.T) {
	var events []Event
	s, err := NewScreen(Options{Cols: 20, Rows: 2, Notify: func(ev Event) { events = append(events, ev) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.emulator.tabs = nil
	if n, err := s.Write([]byte("\t\tx")); n != 3 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	if times, _ := s.Fault(); times != 1 {
		t.Fatalf("failed %d times", times)
	}
	if len(events) != 1 || events[0].Kind != EventFault || !strings.Contains(events[0].Text, "index out of range") {
		t.Errorf("told: %+v", events)
	}
	if _, err := s.Write([]byte("on")); err != nil || s.Text(0, 1)[0] != "on" {
		t.Errorf("it shows %q, %v", s.Text(0, 1), err)
	}
}
