package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each step of a start is reported. Of a flood of lines only some are reported, but the
// log has all.
func TestStarting(t *testing.T) {
	var s starting
	at := time.Unix(1_000_000, 0)
	words := func(all []Progress) string {
		var out []string
		for _, p := range all {
			word := fmt.Sprintf("%s/%s/%v", p.Step, p.Detail, p.Elapsed)
			if p.Done {
				word += "/done"
			}
			if p.Failed {
				word += "/failed/" + strings.Join(p.Tail, ",")
			}
			out = append(out, word)
		}
		return strings.Join(out, " ")
	}
	later := func(d time.Duration) time.Time { at = at.Add(d); return at }
	for i, step := range []struct{ got, want string }{
		{words(s.next(at, "one", "", false)), "one//0s"},
		{words(s.tick(later(time.Second))), "one//1s"},
		{words(s.next(later(time.Second), "two", "", false)), "one//2s/done two//0s"},
		{words(s.next(later(time.Millisecond), "two", "a", false)), ""}, // too soon
		{words(s.next(later(200*time.Millisecond), "two", "b", false)), "two/b/201ms"},
		{words(s.tick(later(100 * time.Millisecond))), ""},
		{words(s.next(later(time.Second), "two", "10%", true)), "two/10%/1.301s"},
		{words(s.next(later(time.Second), "two", "90%", true)), "two/90%/2.301s"},
		{words(s.next(later(time.Millisecond), "two", "c", false)), ""},
		{words(s.tick(later(time.Second))), "two/c/3.302s"},
		{words(s.end(later(time.Second), true)), "two/c/4.302s/failed/a,b,c"},
		{words(s.end(at, true)), ""},
		{words(s.tick(later(time.Hour))), ""},
	} {
		if step.got != step.want {
			t.Errorf("%d: %q, want %q", i, step.got, step.want)
		}
	}
	var log []string
	for _, line := range s.log().Lines {
		log = append(log, line.Text)
	}
	if want := []string{"one", "two", "a", "b", "c"}; !slices.Equal(log, want) || !s.log().Over {
		t.Errorf("log %q, want %q", log, want)
	}
	for i := range maxStartLines + 10 {
		s.next(at, "two", fmt.Sprint(i), false)
	}
	if l := s.log(); len(l.Lines) != maxStartLines || l.Cut != 15 || l.Lines[maxStartLines-1].Text != fmt.Sprint(maxStartLines+9) {
		t.Errorf("%d lines, %d cut", len(l.Lines), l.Cut)
	}
	if got := s.tail(); len(got) != tailLines {
		t.Errorf("the tail has %d lines", len(got))
	}
}
