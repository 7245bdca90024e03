package view

import (
	"testing"
	"time"
)

// A message goes when what it is about changes, and no graver one goes unseen.
func TestMessages(t *testing.T) {
	var (
		notice   = Message{Text: "notice"}
		later    = Message{Text: "later"}
		failure  = Message{Text: "failure", Severity: Failure}
		urgent   = Message{Text: "urgent", Urgent: true}
		notFound = Message{Text: "not found", Severity: Failure, Answer: true}
		answer   = Message{Text: "copied", Severity: Success, Answer: true}
		scopes   = Message{Text: "scopes", About: "c1"}
		worse    = Message{Text: "worse", Urgent: true}
		unasked  = Message{Text: "by the way", Unasked: true}
	)
	type step func(all *Messages, now *time.Time)
	put := func(m Message) step { return func(all *Messages, now *time.Time) { all.Put(m, *now) } }
	pass := func(d time.Duration) step { return func(_ *Messages, now *time.Time) { *now = now.Add(d) } }
	say := func(all *Messages, now *time.Time) { all.Shown(*now) } // it is drawn
	key := func(all *Messages, now *time.Time) { all.Key(*now) }
	drop := func(about string) step { return func(all *Messages, _ *time.Time) { all.Drop(about) } }
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"nothing was said", nil, ""},
		{"a message is shown", []step{put(notice)}, "notice"},
		{"a notice goes after its time", []step{put(notice), pass(infoTime)}, ""},
		{"an error stays longer", []step{put(failure), pass(failureTime - 1)}, "failure"},
		{"an error goes after its time", []step{put(failure), pass(failureTime)}, ""},
		{"what is urgent stays", []step{put(urgent), pass(time.Hour)}, "urgent"},

		{"an answer goes with the next key", []step{put(notFound), key}, ""},
		{"a notice is left by a key that came at once", []step{put(notice), key}, "notice"},
		{"a notice goes with a key once it was seen", []step{put(notice), pass(moment), key}, ""},
		{"an error goes with a key once it was seen", []step{put(failure), pass(moment), key}, ""},
		{"what is urgent is left by a key that came at once", []step{put(urgent), key}, "urgent"},
		{"what is urgent goes with a key once it was seen", []step{put(urgent), pass(moment), key}, ""},

		{"a message goes with what it is about", []step{put(scopes), drop("c1")}, ""},
		{"a message stays when something else ends", []step{put(scopes), drop("c2")}, "scopes"},
		{"a message about nothing stays", []step{put(notice), drop("")}, "notice"},
		{"a message that waits goes with what it is about", []step{put(failure), put(scopes), drop("c1"), pass(moment)}, "failure"},

		{"a notice replaces a notice", []step{put(notice), put(later)}, "later"},
		{"one that nobody has asked for does not", []step{put(notice), put(unasked)}, "notice"},
		{"but comes after it", []step{put(notice), put(unasked), pass(moment)}, "by the way"},
		{"and replaces what was seen", []step{put(notice), pass(moment), put(unasked)}, "by the way"},
		{"an error replaces a notice", []step{put(notice), put(failure)}, "failure"},
		{"an error replaces an error", []step{put(notFound), put(failure)}, "failure"},
		{"what is urgent replaces an error", []step{put(failure), put(urgent)}, "urgent"},
		{"a notice waits for an error", []step{put(failure), put(notice)}, "failure"},
		{"a notice comes a moment after an error", []step{put(failure), put(notice), pass(moment)}, "notice"},
		{"a notice comes when an answer goes", []step{put(notFound), put(notice), key}, "notice"},
		{"the earlier of two that wait is shown", []step{put(failure), put(notice), put(later), pass(moment)}, "notice"},
		{"then the later", []step{put(failure), put(notice), put(later), pass(moment), say, pass(moment)}, "later"},
		{"the graver of two that wait is shown", []step{put(urgent), put(notice), put(failure), pass(moment)}, "failure"},
		{"what a graver one replaces unseen comes after it", []step{put(notice), put(failure), pass(moment)}, "notice"},
		{"an urgent one that another replaces unseen waits for it", []step{put(urgent), put(worse), pass(moment)}, "worse"},
		{"until a key", []step{put(urgent), put(worse), pass(moment), key}, "urgent"},
		{"of many that wait the oldest give way", []step{put(failure), put(notice), put(later), put(later), put(later), put(later), pass(moment)}, "later"},
		{"a notice waits a moment for what is urgent", []step{put(urgent), put(notice), pass(moment - 1)}, "urgent"},
		{"what is urgent comes back after it", []step{put(urgent), put(notice), pass(moment), say, pass(infoTime)}, "urgent"},
		{"until a key, too", []step{put(urgent), put(notice), pass(moment), say, pass(infoTime), say, pass(moment), key}, ""},
		{"a key takes it away meanwhile", []step{put(urgent), put(notice), pass(moment), say, pass(moment), key}, ""},
		{"another urgent one replaces what was seen", []step{put(urgent), pass(moment), put(worse), say, pass(moment), key}, ""},
		{"a notice comes after what is urgent", []step{put(urgent), put(notice), pass(moment), key}, "notice"},
		{"a notice is not shown when it is old", []step{put(urgent), put(notice), pass(infoTime), key}, ""},
		{"an answer that waits goes with the next key", []step{put(urgent), put(answer), pass(moment), key}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all Messages
			now := time.Unix(0, 0)
			for _, do := range c.steps {
				do(&all, &now)
			}
			if got := all.Shown(now).Text; got != c.want {
				t.Errorf("shows %q, want %q", got, c.want)
			}
		})
	}
}

// What waits has all of its time once it is shown.
func TestWhatHasWaitedHasAllOfItsTime(t *testing.T) {
	var all Messages
	now := time.Unix(0, 0)
	all.Put(Message{Text: "failure", Severity: Failure}, now)
	all.Put(Message{Text: "notice"}, now)
	now = now.Add(moment)
	if got := all.Shown(now).Text; got != "notice" {
		t.Fatalf("shows %q", got)
	}
	for wait, want := range map[time.Duration]string{infoTime - 1: "notice", infoTime: ""} {
		shown := all
		if got := shown.Shown(now.Add(wait)).Text; got != want {
			t.Errorf("%v later it shows %q, want %q", wait, got, want)
		}
	}
}
