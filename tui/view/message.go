package view

import (
	"slices"
	"time"
)

// Severity is how a message is drawn.
type Severity uint8

// The severities.
const (
	Info Severity = iota
	Success
	Failure
)

// How long a message stays unless something takes it away.
const (
	infoTime    = 6 * time.Second
	failureTime = 15 * time.Second
	// moment is how long a person needs to see that there is a message.
	moment = time.Second
)

// Message is a sentence in the status line.
type Message struct {
	Text     string // sanitized; empty: no message
	Severity Severity
	Urgent   bool   // stays until a key
	Answer   bool   // says what came of the person's last key, such as "not found"
	Unasked  bool   // is of no request of the person's
	About    string // what must last for the message to be true, such as a call's ID; empty: nothing
	since    time.Time
	until    time.Time
}

// weight orders messages by how grave they are.
func (m Message) weight() int {
	switch {
	case m.Urgent:
		return 2
	case m.Severity == Failure:
		return 1
	}
	return 0
}

// Messages are the message in the status line and those that wait for it. One rule says when a
// message goes: when what it is about changes, and none unseen.
//
// An answer is about what the person did last, so it goes with the next key or click that the
// multiplexer handles; every other message goes with that, too, once it was there for a moment.
// A message about something that ends goes with it, and each goes by itself after some seconds,
// but for an urgent one, which comes back when nothing else is shown. One urgent message waits for
// the key that takes another one away.
//
// A message replaces one that is not graver at once, and waits a moment for a graver one; one that
// nobody has asked for waits for one that is as grave, too. What a graver one replaces unseen waits
// for it.
type Messages struct {
	shown   Message
	waiting []Message // at most mostWaiting; the gravest and oldest is next
	pinned  Message   // urgent, and was shown
}

// mostWaiting bounds the messages that wait; the oldest gives way.
const mostWaiting = 4

// Put adds a message.
func (all *Messages) Put(m Message, now time.Time) {
	shown := all.Shown(now)
	waits := m.weight() < shown.weight() || m.weight() == shown.weight() && m.Unasked && !m.Urgent
	if !waits || !shown.young(now) {
		all.show(m, now)
	} else {
		all.wait(m, now)
	}
}

// show shows a message, and keeps what it replaces if that is to be seen yet.
func (all *Messages) show(m Message, now time.Time) {
	switch old := all.shown; {
	case old.young(now) && !old.Answer && (m.weight() > old.weight() || old.Urgent):
		all.wait(old, now)
	case old.Urgent && !m.Urgent:
		all.pinned = old
	}
	all.shown = m.from(now)
}

func (all *Messages) wait(m Message, now time.Time) {
	if len(all.waiting) == mostWaiting {
		all.waiting = slices.Delete(all.waiting, 0, 1)
	}
	all.waiting = append(all.waiting, m.from(now))
}

// from returns the message with its time from now on.
func (m Message) from(now time.Time) Message {
	m.since, m.until = now, now.Add(infoTime)
	if m.Severity == Failure {
		m.until = now.Add(failureTime)
	}
	return m
}

// young reports whether the person may not have seen the message yet.
func (m Message) young(now time.Time) bool { return m.Text != "" && now.Before(m.since.Add(moment)) }

// over reports whether the time of a message is over.
func (m Message) over(now time.Time) bool { return !m.Urgent && !now.Before(m.until) }

// Shown returns the message that is shown now; its text is empty when there is none.
func (all *Messages) Shown(now time.Time) Message {
	if all.shown.over(now) {
		all.shown = Message{}
	}
	all.waiting = slices.DeleteFunc(all.waiting, func(m Message) bool { return m.over(now) })
	if i := all.next(); i >= 0 && !all.shown.young(now) {
		m := all.waiting[i]
		all.waiting = slices.Delete(all.waiting, i, i+1)
		all.show(m, now)
	}
	if all.shown.Text == "" && all.pinned.Text != "" {
		all.shown, all.pinned = all.pinned.from(now), Message{}
	}
	return all.shown
}

// next is the place of the waiting message that is shown next; -1: there is none. An urgent one
// waits until a key has taken away the urgent one that is shown.
func (all *Messages) next() int {
	next := -1
	for i, m := range all.waiting {
		if (!m.Urgent || !all.shown.Urgent) && (next < 0 || m.weight() > all.waiting[next].weight()) {
			next = i
		}
	}
	return next
}

// Key takes away what goes with a key or click of the person's, and reports whether there was
// anything.
func (all *Messages) Key(now time.Time) bool {
	all.waiting = slices.DeleteFunc(all.waiting, func(m Message) bool { return m.Answer })
	shown := all.Shown(now)
	if shown.Text == "" || !shown.Answer && shown.young(now) {
		return false
	}
	all.shown, all.pinned = Message{}, Message{}
	return true
}

// Drop takes away messages about something that has ended.
func (all *Messages) Drop(about string) {
	goes := func(m Message) bool { return m.About != "" && m.About == about }
	for _, m := range []*Message{&all.shown, &all.pinned} {
		if goes(*m) {
			*m = Message{}
		}
	}
	all.waiting = slices.DeleteFunc(all.waiting, goes)
}

// Changes reports whether what is shown changes with the time.
func (all *Messages) Changes(now time.Time) bool {
	return all.Shown(now).Text != "" && (!all.shown.Urgent || all.next() >= 0)
}
