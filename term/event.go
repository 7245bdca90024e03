package term

// EventKind says what a program asked its terminal to do besides drawing.
type EventKind uint8

// The kinds of events.
const (
	EventBell         EventKind = iota // BEL
	EventTitle                         // OSC 0 or 2: Title is the new title
	EventClipboard                     // OSC 52: Data is what to copy, Text the selection's name
	EventNotification                  // OSC 9 or 777: Title and Text
	EventStatus                        // OSC 7501: Text is the program's report of its own state
	EventCommand                       // OSC 133;C: a shell begins to run a command
	EventPrompt                        // OSC 133;A or D: the command has ended, or the shell prompts
	EventFault                         // the screen failed and was replaced by an empty one: Text is the cause
)

// Event is a request of the program, or EventFault, which the screen itself raises. The
// receiver must not trust it: its text is the program's. Text and Title contain no
// control characters.
type Event struct {
	Kind        EventKind
	Text, Title string
	Data        []byte
}

// maxEvents bounds the events that one Write can queue. Later events are dropped,
// except the last title.
const maxEvents = 64

// shell reports whether the event comes from a shell's marks.
func (ev Event) shell() bool { return ev.Kind == EventCommand || ev.Kind == EventPrompt }

// raise queues an event for delivery after the current Write.
func (e *emulator) raise(ev Event) {
	if n := len(e.events); n > 0 && ev.Kind == EventTitle && e.events[n-1].Kind == EventTitle {
		e.events[n-1] = ev
		return
	}
	if n := len(e.events); n > 0 && ev.shell() && e.events[n-1].shell() {
		e.events[n-1] = ev // only the shell's latest state counts
		return
	}
	if len(e.events) >= maxEvents {
		if ev.Kind != EventTitle {
			return
		}
		e.events = e.events[:maxEvents-1]
	}
	e.events = append(e.events, ev)
}
