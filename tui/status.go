package tui

import (
	"errors"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// How long a message stays in the status line.
const (
	noticeTime = 6 * time.Second
	errorTime  = 15 * time.Second
)

// severity is how a message is drawn.
type severity uint8

const (
	sevInfo severity = iota
	sevGood
	sevError
)

// flash is the message in the status line; a newer one replaces it. An urgent message stays
// until the person's next key, and a list of completions until the next key on the command
// line.
type flash struct {
	text       string
	sev        severity
	until      time.Time
	urgent     bool
	candidates bool
	bad        bool // it is about calls that did not end as decided
}

// shown reports whether the message is still shown.
func (f flash) shown(now time.Time) bool {
	return f.text != "" && (f.urgent || now.Before(f.until))
}

// showInfo puts a message into the status line.
func (m *Model) showInfo(text string) { m.setFlash(text, sevInfo, noticeTime) }

// showSuccess says that something has succeeded.
func (m *Model) showSuccess(text string) { m.setFlash(text, sevGood, noticeTime) }

// showError shows an error in one line, with its hint.
func (m *Model) showError(err error) { m.setFlash(explain(err), sevError, errorTime) }

func (m *Model) setFlash(text string, sev severity, d time.Duration) {
	m.flash = flash{text: text, sev: sev, until: m.now().Add(d)}
	m.dirty = true
}

// errStay keeps the command on the line without a message: the person continues it when the
// result of a request is shown.
var errStay = errors.New("not yet")

// explain turns an error into one sanitized line: the error and its hint.
func explain(err error) string {
	shown := text.Drawable(err.Error())
	if next := fault.Hint(err); next != "" {
		shown += " (" + text.Drawable(next) + ")"
	}
	return shown
}
