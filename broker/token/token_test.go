package token

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clocked is a store whose time is the test's.
type clocked struct {
	*Store
	time time.Time
}

func open(t testing.TB, path string) *clocked {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &clocked{s, time.Now().Round(0)}
	s.now = func() time.Time { return c.time }
	return c
}

func make1(t testing.TB, s *clocked, name string, life time.Duration) (secret string) {
	t.Helper()
	secret, err := s.Make(name, []string{"s1"}, true, life)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// A token is good until it is revoked or its time is over, also for the next process; the file
// does not have it.
func TestATokenIsGoodUntilItEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	s := open(t, path)
	bot, other := make1(t, s, "bot", time.Hour), make1(t, s, "other", MaxLife)
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), bot) || len(bot) != 43 || bot == other {
		t.Errorf("%q in %s, %v", bot, text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again := open(t, path)
	again.time = s.time
	got, ended, err := again.Check(bot)
	if err != nil || got.Name != "bot" || !got.DenyOnly || len(got.Sessions) != 1 || got.Sessions[0] != "s1" {
		t.Errorf("%+v, %v", got, err)
	}
	if list := again.List(); len(list) != 2 || list[0].Used.IsZero() || !list[1].Used.IsZero() {
		t.Errorf("%+v", list)
	}
	_, otherEnded, err := again.Check(other)
	if err != nil {
		t.Fatal(err)
	}
	_, changed, next := again.Live()
	if next != time.Hour {
		t.Errorf("the next one ends after %v", next)
	}
	if err := again.Revoke("other"); err != nil {
		t.Error(err)
	}
	<-changed
	<-otherEnded
	again.time = again.time.Add(time.Hour)
	if live, _, _ := again.Live(); live {
		t.Error("one is left")
	}
	<-ended
	for _, secret := range []string{bot, other} {
		if got, _, err := again.Check(secret); err == nil {
			t.Errorf("%+v is in force", got)
		}
	}
	if err := again.Revoke("bot"); err == nil {
		t.Error("what has ended was revoked")
	}
}

// After five wrong tokens within a minute none is taken, not even a right one.
func TestFiveWrongTokensAMinute(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tokens"))
	bot := make1(t, s, "bot", time.Hour)
	wrong := []string{"", "x", bot[1:], bot + "A", strings.ToLower(bot) + "="}
	for _, secret := range wrong {
		if _, _, err := s.Check(secret); err == nil || !strings.Contains(err.Error(), "wrong") {
			t.Errorf("%q: %v", secret, err)
		}
		s.time = s.time.Add(time.Second)
	}
	s.time = s.time.Add(wrongTime - time.Duration(len(wrong))*time.Second - 1)
	if _, _, err := s.Check(bot); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("after %d wrong ones: %v", len(wrong), err)
	}
	s.time = s.time.Add(1) // the first one counts no more
	if _, _, err := s.Check(bot); err != nil {
		t.Error(err)
	}
}

func TestTokensThatAreNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	s := open(t, path)
	make1(t, s, "bot", time.Hour)
	for _, test := range []struct {
		name     string
		sessions []string
		life     time.Duration
	}{
		{"bot", []string{"s"}, time.Hour},
		{"", []string{"s"}, time.Hour},
		{"a", nil, time.Hour},
		{"a", []string{"s", ""}, time.Hour},
		{"a", make([]string, maxSessions+1), time.Hour},
		{"a", []string{"s"}, 0},
		{"a", []string{"s"}, -time.Hour},
		{"a", []string{"s"}, MaxLife + 1},
	} {
		if _, err := s.Make(test.name, test.sessions, false, test.life); err == nil {
			t.Errorf("%+v is made", test)
		}
	}
	for i := range maxTokens - 1 {
		make1(t, s, string(rune('a'+i)), time.Minute)
	}
	if _, err := s.Make("z", []string{"s"}, false, time.Hour); err == nil {
		t.Error("there are too many")
	}
	s.time = s.time.Add(time.Minute)
	make1(t, s, "z", time.Minute)
	s.path = filepath.Join(path, "none")
	if _, err := s.Make("y", []string{"s"}, false, time.Hour); err == nil || len(s.List()) != 2 {
		t.Errorf("it cannot be written, and is made: %v", s.List())
	}
	if err := s.Revoke("z"); err == nil || !strings.Contains(err.Error(), "until the daemon starts again") || len(s.List()) != 1 {
		t.Errorf("it cannot be written: %v, %v", err, s.List())
	}
}

// Of a file that is none of ours nothing is in force.
func FuzzOpen(f *testing.F) {
	s := open(f, filepath.Join(f.TempDir(), "tokens"))
	make1(f, s, "bot", time.Hour)
	good, err := os.ReadFile(s.path)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{string(good), "", "null", "[null]", "[{}]", `[{"name":"a","sessions":["s"],"hash":"","made":"2026-01-01T00:00:00Z","expires":"2027-01-01T00:00:00Z"}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		list := s.List()
		if err != nil && len(list) > 0 {
			t.Errorf("%v, and %v", err, list)
		}
		for _, one := range list {
			if len(one.Sessions) == 0 || one.Expires.Sub(one.Made) > MaxLife {
				t.Errorf("%+v is in force", one)
			}
		}
	})
}
