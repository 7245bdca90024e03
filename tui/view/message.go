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

// How long a message stays unless it is removed or replaced before.
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
	Urgent   bool   // stays until the person presses a key
	Answer   bool   // reports the result of the person's last key, such as "not found"
	Unasked  bool   // does not answer a request of the person
	About    string // what the message is about, such as a call's ID; Drop(About) removes the message; empty: nothing
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

// Messages are the message in the status line and the messages that wait to be shown.
//
// A message is removed by the next key or click that the multiplexer handles. An answer is removed at
// once, because it is about the person's last key; any other message only after it was shown for a
// moment. Drop removes the messages about something that has ended. A message that is not urgent
// also goes after some seconds. An urgent message comes back when nothing else is shown, and the next
// urgent message waits until a key has removed it.
//
// A new message replaces the shown one at once, unless that is graver and was not shown for a moment
// yet; then the new message waits. An unasked message also waits for a message that is equally grave.
// A message that is replaced by a graver one before it was shown for a moment is shown again later,
// unless it is an answer.
type Messages struct {
	shown   Message
	waiting []Message // at most mostWaiting; the gravest and oldest is next
	pinned  Message   // the urgent message that was shown and comes back
}

// mostWaiting bounds the messages that wait; the oldest is dropped.
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

// show shows a message, and keeps the message that it replaces if that must be shown again.
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

// from returns the message with its times set for being shown from now on.
func (m Message) from(now time.Time) Message {
	m.since, m.until = now, now.Add(infoTime)
	if m.Severity == Failure {
		m.until = now.Add(failureTime)
	}
	return m
}

// young reports whether the message was shown for so short a time that the person may not have seen it.
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

// next returns the index of the waiting message that is shown next; -1: none is. An urgent message
// waits until a key has removed the urgent message that is shown.
func (all *Messages) next() int {
	next := -1
	for i, m := range all.waiting {
		if (!m.Urgent || !all.shown.Urgent) && (next < 0 || m.weight() > all.waiting[next].weight()) {
			next = i
		}
	}
	return next
}

// Key removes the messages that a key or click of the person removes, and reports whether it has
// removed the shown one.
func (all *Messages) Key(now time.Time) bool {
	all.waiting = slices.DeleteFunc(all.waiting, func(m Message) bool { return m.Answer })
	shown := all.Shown(now)
	if shown.Text == "" || !shown.Answer && shown.young(now) {
		return false
	}
	all.shown, all.pinned = Message{}, Message{}
	return true
}

// Drop removes the messages about something that has ended.
func (all *Messages) Drop(about string) {
	goes := func(m Message) bool { return m.About != "" && m.About == about }
	for _, m := range []*Message{&all.shown, &all.pinned} {
		if goes(*m) {
			*m = Message{}
		}
	}
	all.waiting = slices.DeleteFunc(all.waiting, goes)
}

// Changes reports whether the passing of time can change the shown message.
func (all *Messages) Changes(now time.Time) bool {
	return all.Shown(now).Text != "" && (!all.shown.Urgent || all.next() >= 0)
}
