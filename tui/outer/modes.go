package outer

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// enter returns the sequences that Open writes to set the modes. leave resets them. The
// keyboard's state belongs to the alternate screen, so leave resets it first.
func enter(mouse keys.MouseMode, keyboard uint8) string {
	return saveTitle +
		alternate +
		"\x1b[?7l" + // no autowrap
		"\x1b[?25l" + // no cursor
		"\x1b[?2004h" + // bracketed paste
		"\x1b[?1004h" + // focus events
		"\x1b[?2031h" + // reports of changes between dark and light
		mouseOn(mouse) +
		"\x1b[>4;2m" + // modifyOtherKeys, for terminals without the kitty keyboard
		fmt.Sprintf("\x1b[>%du", keyboard) + // kitty keyboard
		// Ask whether it supports synchronized output, whether it joins grapheme
		// clusters, and for its colors. The answers are events.
		"\x1b[?2026$p\x1b[?2027$p" +
		askColors +
		probeText
}

const (
	saveTitle = "\x1b[22;0t"
	alternate = "\x1b[?1049h" // the alternate screen

	askColors = "\x1b]10;?\x1b\\\x1b]11;?\x1b\\"

	mouseOff = "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l"

	// leave resets everything that enter and frames may have set.
	leave = leaveModes + "\x1b[?25h" + "\x1b[?1049l" + "\x1b[23;0t"

	// leaveModes is leave without what changes the screen, which the next view continues to use.
	leaveModes = "\x1b[?2026l" +
		"\x1b[<u" +
		"\x1b[>4m" +
		mouseOff +
		"\x1b[?2031l" +
		"\x1b[?1004l" +
		"\x1b[?2004l" +
		"\x1b]8;;\x1b\\" +
		"\x1b[m\x1b[r" +
		"\x1b[0 q" +
		"\x1b[?7h"

	// cancel ends an incomplete sequence.
	cancel = "\x18\x1b\\"
)

func mouseOn(mode keys.MouseMode) string {
	switch mode {
	case keys.MouseOff:
		return ""
	case keys.MouseMotion:
		return "\x1b[?1003h\x1b[?1006h"
	}
	return "\x1b[?1002h\x1b[?1006h"
}

// SetMouse sets which mouse events the terminal reports: none (keys.MouseOff), all
// including motion (keys.MouseMotion), or presses, releases and motion with a button
// held (any other mode).
func (t *Terminal) SetMouse(mode keys.MouseMode) error {
	t.modes.Lock()
	defer t.modes.Unlock()
	if mouseOn(mode) == mouseOn(t.mouse) {
		return nil
	}
	if err := t.setMode(mouseOff + mouseOn(mode)); err != nil {
		return err
	}
	t.mouse = mode
	return nil
}

// SetKeyboard sets kitty keyboard flags in addition to those that are always set. The
// flags are those of the program that gets the keys, so that the terminal sends what
// this program asked for. A terminal without the protocol ignores them.
func (t *Terminal) SetKeyboard(flags uint8) error {
	t.modes.Lock()
	defer t.modes.Unlock()
	flags |= baseKeyboard
	if flags == t.keyboard {
		return nil
	}
	if err := t.setMode(fmt.Sprintf("\x1b[=%d;1u", flags)); err != nil {
		return err
	}
	t.keyboard = flags
	return nil
}

// setMode writes a change of mode. While the terminal is lent, it writes nothing and
// returns no error, because takeBack sets the mode.
func (t *Terminal) setMode(s string) error {
	if err := t.writeString(s); !errors.Is(err, ErrLent) {
		return err
	}
	return nil
}

// The most bytes of a title, a notification and a copied text.
const (
	maxTitle  = 256
	maxNotice = 512
	maxCopy   = 1 << 20
)

// SetTitle sets the title of the terminal's window. It leaves out characters that cannot
// be shown.
func (t *Terminal) SetTitle(title string) error {
	return t.writeString("\x1b]0;" + visible(title, maxTitle) + "\x07")
}

// AskColors asks the terminal for its colors again; the answers are events.
func (t *Terminal) AskColors() error { return t.writeString(askColors) }

// Bell rings the terminal's bell.
func (t *Terminal) Bell() error { return t.writeString("\a") }

// Notify asks the terminal to show a desktop notification: with OSC 777 if the terminal
// is known to support that, else with OSC 9.
func (t *Terminal) Notify(title, text string) error {
	title, text = visible(title, maxTitle), visible(text, maxNotice)
	if knows777(t.Getenv) {
		return t.writeString("\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + text + "\x1b\\")
	}
	return t.writeString("\x1b]9;" + title + ": " + text + "\x07")
}

// knows777 reports whether the person's terminal supports notifications with OSC 777 and
// not with OSC 9.
func knows777(getenv func(string) string) bool {
	name := getenv("TERM")
	return strings.HasPrefix(name, "rxvt") || strings.HasPrefix(name, "foot") || getenv("VTE_VERSION") != ""
}

// Copy copies text to the person's clipboard (OSC 52). It refuses more than 1 MiB.
func (t *Terminal) Copy(text string) error {
	if len(text) > maxCopy {
		return fmt.Errorf("copy %d bytes to the clipboard: more than the limit of %d", len(text), maxCopy)
	}
	return t.writeString("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x07")
}

func (t *Terminal) writeString(s string) error {
	_, err := t.Write([]byte(s))
	return err
}

// visible returns s without the characters that cannot be shown, cut at limit bytes.
func visible(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= limit {
			break
		}
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			b.WriteRune(r)
		}
	}
	return b.String()
}
