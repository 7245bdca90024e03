package term

import "github.com/ironcurtain-mux/ironcurtain-mux/term/keys"

// modeSet is a set of private modes.
type modeSet uint32

// The private modes that a screen knows. The modes of the mouse and of the alternate
// screen are in mouseState and emulator.alt. Smooth scrolling, form feed and print
// extent can be set and reported but have no effect: frames decide what a person sees
// of scrolling, and there is no printer.
const (
	applicationCursor modeSet = 1 << iota // 1
	wideColumns                           // 3
	smoothScroll                          // 4
	reverseVideo                          // 5
	originMode                            // 6
	autoWrap                              // 7
	cursorBlink                           // 12
	formFeed                              // 18
	printExtent                           // 19
	cursorVisible                         // 25
	columnsChange                         // 40
	tabWraps                              // 41
	nationalSets                          // 42
	reverseWrap                           // 45
	backarrowSends                        // 67
	columnMargins                         // 69
	focusEvents                           // 1004
	alternateScroll                       // 1007
	bracketedPaste                        // 2004
	synchronized                          // 2026
	graphemeClusters                      // 2027
	themeReports                          // 2031
	sizeReports                           // 2048

	allModes = 1<<iota - 1
)

// initialModes are the modes that are set at the start and after a reset. As in most
// terminals, programs on the alternate screen get the mouse wheel as cursor keys unless
// they reset that mode.
const initialModes = autoWrap | cursorVisible | alternateScroll

func (m modeSet) has(mode modeSet) bool { return m&mode != 0 }

func (m *modeSet) set(mode modeSet, on bool) {
	if on {
		*m |= mode
	} else {
		*m &^= mode
	}
}

// privateModes lists the modes by number, in ascending order.
var privateModes = []struct {
	number int
	mode   modeSet
}{
	{1, applicationCursor},
	{3, wideColumns},
	{4, smoothScroll},
	{5, reverseVideo},
	{6, originMode},
	{7, autoWrap},
	{12, cursorBlink},
	{18, formFeed},
	{19, printExtent},
	{25, cursorVisible},
	{40, columnsChange},
	{41, tabWraps},
	{42, nationalSets},
	{45, reverseWrap},
	{67, backarrowSends},
	{69, columnMargins},
	{1004, focusEvents},
	{1007, alternateScroll},
	{2004, bracketedPaste},
	{2026, synchronized},
	{2027, graphemeClusters},
	{2031, themeReports},
	{2048, sizeReports},
}

// mouseState is which mouse events the program wants, and in which format.
type mouseState struct {
	mode   keys.MouseMode
	format keys.MouseFormat
}

var mouseModes = map[int]keys.MouseMode{
	9: keys.MouseX10, 1000: keys.MouseClick, 1002: keys.MouseDrag, 1003: keys.MouseMotion,
}

var mouseFormats = map[int]keys.MouseFormat{
	1005: keys.MouseUTF8, 1006: keys.MouseSGR, 1016: keys.MousePixels,
}

// maxSavedModes is how many modes XTSAVE may save at most: all that setPrivateMode knows.
const maxSavedModes = 64

// setModes is SM and RM.
func (e *emulator) setModes(on bool) {
	for _, n := range e.params[:e.count] {
		switch n {
		case 4:
			e.insert = on
		case 20:
			e.newline = on
		}
	}
}

// setPrivateModes is DECSET and DECRST.
func (e *emulator) setPrivateModes(on bool) {
	for _, n := range e.params[:e.count] {
		e.setPrivateMode(int(n), on)
	}
}

func (e *emulator) setPrivateMode(n int, on bool) {
	switch n {
	case 3:
		e.changeColumns(on)
	case 47:
		e.showAlternate(on, true)
	case 1047:
		e.showAlternate(on, false)
	case 1048:
		if on {
			e.saveCursor()
		} else {
			e.restoreCursor()
		}
	case 1049:
		e.alternateWithCursor(on)
	case 66:
		e.keypad = on
	case 9, 1000, 1002, 1003:
		e.mouse.mode = keys.MouseOff
		if on {
			e.mouse.mode = mouseModes[n]
		}
	case 1005, 1006, 1016:
		if on {
			e.mouse.format = mouseFormats[n]
		} else if e.mouse.format == mouseFormats[n] {
			e.mouse.format = keys.MouseLegacy
		}
	default:
		e.setFlag(n, on)
	}
}

// setFlag sets one of the modes that are plain flags, and applies the mode's immediate
// effects.
func (e *emulator) setFlag(n int, on bool) {
	for _, known := range privateModes {
		if known.number == n {
			e.modes.set(known.mode, on)
			break
		}
	}
	switch n {
	case 6:
		e.moveTo(0, 0)
	case 69:
		e.modes.set(columnMargins, on && e.level >= 4)
		if !e.modes.has(columnMargins) {
			e.clearColumns()
		}
	case 2026:
		if on {
			e.sync.begin()
		} else {
			e.sync.end()
		}
	case 2048:
		if on {
			e.reportSize()
		}
	}
}

// showAlternate switches screens (47, 1047) and does not move the cursor. With keep, the
// alternate screen still shows what was on it the last time.
func (e *emulator) showAlternate(on, keep bool) {
	if on == e.alt {
		return
	}
	e.alt = on
	e.grid.show(on)
	if on && !(keep && e.altKept) {
		e.eraseRows(0, e.rows-1)
	}
	e.altKept = !on
	e.damage.all()
}

// alternateWithCursor is mode 1049: it switches screens, and saves and restores the
// cursor of the main screen.
func (e *emulator) alternateWithCursor(on bool) {
	if on {
		e.saveCursor()
		e.showAlternate(true, false)
		return
	}
	e.showAlternate(false, false)
	e.restoreCursor()
}

// changeColumns is DECCOLM, for a program that allowed it with mode 40. It erases the
// screen and clears the margins as DECCOLM does. The width does not change, because it
// is the pane's; xterm does the same when its window cannot grow.
func (e *emulator) changeColumns(on bool) {
	if !e.modes.has(columnsChange) {
		return
	}
	e.modes.set(wideColumns, on)
	e.clearMargins()
	e.eraseRows(0, e.rows-1)
	e.moveTo(0, 0)
}

// keyModes returns the modes of keyboard and mouse that the program set.
func (e *emulator) keyModes() keys.Modes {
	return keys.Modes{
		ApplicationCursor: e.modes.has(applicationCursor),
		ApplicationKeypad: e.keypad,
		BackarrowDelete:   !e.modes.has(backarrowSends),
		Newline:           e.newline,
		BracketedPaste:    e.modes.has(bracketedPaste),
		FocusEvents:       e.modes.has(focusEvents),
		AlternateScroll:   e.modes.has(alternateScroll),
		ModifyOtherKeys:   e.otherKeys,
		Kitty:             e.kitty[e.screenIndex()].flags(),
		Mouse:             e.mouse.mode,
		MouseFormat:       e.mouse.format,
		AltScreen:         e.alt,
	}
}
