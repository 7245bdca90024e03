package keys

// MouseMode is which mouse events a program asked for.
type MouseMode uint8

// The mouse modes, by their private mode numbers.
const (
	MouseOff    MouseMode = iota
	MouseX10              // 9: presses only
	MouseClick            // 1000: presses and releases
	MouseDrag             // 1002: also motion with a button held
	MouseMotion           // 1003: also all other motion
)

// MouseFormat is how mouse events are written.
type MouseFormat uint8

// The mouse formats, by their private mode numbers.
const (
	MouseLegacy MouseFormat = iota // three bytes after CSI M
	MouseUTF8                      // 1005
	MouseSGR                       // 1006
	MousePixels                    // 1016: SGR with pixels; here those of the cell's middle
)

// CellWidth and CellHeight are the size of a cell in pixels as reported to programs. The
// true size on the person's terminal is not revealed.
const (
	CellWidth  = 10
	CellHeight = 20
)

// Modes are the input modes that a program has set.
type Modes struct {
	ApplicationCursor bool  // DECCKM: cursor keys send SS3
	ApplicationKeypad bool  // DECKPAM
	BackarrowDelete   bool  // DECBKM reset: Backspace sends DEL; the usual state
	Newline           bool  // LNM: Enter sends CR LF
	BracketedPaste    bool  // 2004
	FocusEvents       bool  // 1004
	AlternateScroll   bool  // 1007: the wheel sends cursor keys on the alternate screen
	ModifyOtherKeys   uint8 // xterm's level, 0 to 2
	Kitty             uint8 // current flags of the kitty keyboard protocol
	Mouse             MouseMode
	MouseFormat       MouseFormat
	AltScreen         bool // the alternate screen is shown
}
