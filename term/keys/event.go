package keys

// Kind says what an Event is, and therefore which of its fields is set.
type Kind uint8

// The kinds of events.
const (
	KeyEvent     Kind = iota + 1 // Event.Key
	PasteEvent                   // Event.Paste: one piece of a bracketed paste
	MouseEvent                   // Event.Mouse
	FocusEvent                   // Event.Focused
	ReplyEvent                   // Event.Reply: an answer of the person's terminal
	UnknownEvent                 // only Event.Raw
)

// Event is one piece of input from the person's terminal. Events are in the order of
// their bytes: the Raw fields of all events, joined, are the input.
type Event struct {
	Kind    Kind
	Key     Key
	Paste   Paste
	Mouse   Mouse
	Focused bool // true when the person's terminal gained the focus, false when it lost it
	Reply   Reply

	// Raw are the bytes that the event was decoded from; empty for an event that this
	// program made. They stay valid and unchanged.
	Raw []byte
}

// Paste is one piece of a bracketed paste, in order. A paste is a piece with
// Start, any number of pieces with Data, and a piece with End; a piece may be
// several of these at once. A character or a CR LF is never split over two pieces.
type Paste struct {
	Start, End bool
	Data       []byte
}

// Button is a mouse button.
type Button uint8

// The mouse buttons. ButtonNone means motion with no button held, or a release that
// does not name its button.
const (
	ButtonNone Button = iota
	ButtonLeft
	ButtonMiddle
	ButtonRight
	WheelUp
	WheelDown
	WheelLeft
	WheelRight
	Button8 // the first additional button, usually "back"
	Button9 // usually "forward"
	Button10
	Button11
)

// Wheel reports whether b is a turn of a wheel, which has no release.
func (b Button) Wheel() bool { return b >= WheelUp && b <= WheelRight }

// MouseAction is what happened to a mouse button, or a motion.
type MouseAction uint8

// The mouse actions.
const (
	MousePress MouseAction = iota
	MouseRelease
	MouseMove // with Button held, or none
)

// Mouse is a mouse event. X and Y are zero-based cells. Before encoding an event for a
// pane, subtract the pane's origin: Encode writes X and Y unchanged, and writes nothing
// when one of them is negative.
type Mouse struct {
	X, Y   int
	Button Button
	Action MouseAction
	Mods   Mods // Shift, Alt and Ctrl only
}

// ReplyKind says which question a terminal answered.
type ReplyKind uint8

// The kinds of answers. Params and Text of the Reply hold their content.
const (
	ReplyOther      ReplyKind = iota // an answer that this package does not decode
	ReplyAttributes                  // DA1 (Text "?") or DA2 (Text ">"): Params are the attributes
	ReplyCursor                      // CPR: Params are row and column, one-based
	ReplyStatus                      // DSR: Params as sent; 997;1 is dark, 997;2 is light
	ReplyMode                        // DECRPM: Params are the mode and its state, 1 set, 2 reset, 0 unknown
	ReplyKeyboard                    // kitty keyboard flags: Params[0]
	ReplyWindow                      // XTWINOPS: Params as sent; 8;rows;cols is the size in cells
	ReplyColor                       // OSC 4, 10, 11, 12: Params[0] is the command, Text the rest
	ReplyVersion                     // XTVERSION: Text is name and version
)

// Reply is an answer of the person's terminal to this program. Programs in tabs never
// get it, so Encode writes nothing for it. Text may hold any bytes.
type Reply struct {
	Kind   ReplyKind
	Params []int
	Text   string
}

// String names an event for key bindings and messages: "ctrl+a", "paste",
// "wheelup", "focus".
func (e Event) String() string {
	switch e.Kind {
	case KeyEvent:
		return e.Key.String()
	case PasteEvent:
		return "paste"
	case MouseEvent:
		return e.Mouse.String()
	case FocusEvent:
		if e.Focused {
			return "focus"
		}
		return "blur"
	case ReplyEvent:
		return "reply"
	}
	return "unknown"
}
