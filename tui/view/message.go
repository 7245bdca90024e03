package view

import "time"

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
	Ending   bool   // it is about calls that did not end as decided
	About    string // what must last for the message to be true, such as a call's ID; empty: nothing
	since    time.Time
	until    time.Time
}

// weight orders messages: a lighter one waits for a graver one.
func (m Message) weight() int {
	switch {
	case m.Urgent:
		return 2
	case m.Severity == Failure:
		return 1
	}
	return 0
}

// Messages is the message in the status line, and at most one that waits for it.
//
// The answer to a key goes with the next key or click that the multiplexer handles; every other
// message goes with that, too, once it was there for a moment. A message about something goes
// when that ends. Each but an urgent one goes by itself after some seconds.
//
// A message replaces one that is not graver. It waits for a graver one: a moment for an error,
// and until a key for what is urgent.
type Messages struct{ shown, next Message }

// Put adds a message. Of two that wait, the graver one or else the later one stays.
func (all *Messages) Put(m Message, now time.Time) {
	shown := all.Shown(now)
	m.since, m.until = now, now.Add(infoTime)
	if m.Severity == Failure {
		m.until = now.Add(failureTime)
	}
	switch {
	case m.weight() >= shown.weight() || !shown.holds(now):
		all.shown = m
	case m.weight() >= all.next.weight():
		all.next = m
	}
}

// holds reports whether a lighter message has to wait for this one.
func (m Message) holds(now time.Time) bool {
	return m.Text != "" && (m.Urgent || m.Severity == Failure && now.Before(m.since.Add(moment)))
}

// over reports whether the time of a message is over.
func (m Message) over(now time.Time) bool { return !m.Urgent && !now.Before(m.until) }

// Shown returns the message that is shown now; its text is empty when there is none.
func (all *Messages) Shown(now time.Time) Message {
	if all.shown.over(now) {
		all.shown = Message{}
	}
	if all.next.over(now) {
		all.next = Message{}
	}
	if all.next.Text != "" && !all.shown.holds(now) {
		all.shown, all.next = all.next, Message{}
		all.shown.until = now.Add(all.shown.until.Sub(all.shown.since))
		all.shown.since = now
	}
	return all.shown
}

// Key takes away what goes with a key or click of the person's, and reports whether there was
// anything.
func (all *Messages) Key(now time.Time) bool {
	if all.next.Answer {
		all.next = Message{}
	}
	shown := all.Shown(now)
	if shown.Text == "" || !shown.Answer && now.Before(shown.since.Add(moment)) {
		return false
	}
	all.shown = Message{}
	return true
}

// Drop takes away messages about something that has ended.
func (all *Messages) Drop(about string) {
	for _, m := range []*Message{&all.shown, &all.next} {
		if m.About != "" && m.About == about {
			*m = Message{}
		}
	}
}

// Changes reports whether what is shown changes with the time.
func (all *Messages) Changes(now time.Time) bool {
	return all.Shown(now).Text != "" && !all.shown.Urgent
}
