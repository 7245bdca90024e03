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

// flash is the message in the status line. The newest replaces the others; an
// urgent one stays until the person's next key, and a list of candidates goes
// with the next key on the command line.
type flash struct {
	text       string
	sev        severity
	until      time.Time
	urgent     bool
	candidates bool
	bad        bool // it tells of calls that did not become what was decided
}

// shown reports whether the message is still to be shown.
func (f flash) shown(now time.Time) bool {
	return f.text != "" && (f.urgent || now.Before(f.until))
}

// showInfo puts a message into the status line.
func (m *Model) showInfo(text string) { m.setFlash(text, sevInfo, noticeTime) }

// showSuccess says that something has succeeded.
func (m *Model) showSuccess(text string) { m.setFlash(text, sevGood, noticeTime) }

// showError says what went wrong, in one line, with what to do about it.
func (m *Model) showError(err error) { m.setFlash(explain(err), sevError, errorTime) }

func (m *Model) setFlash(text string, sev severity, d time.Duration) {
	m.flash = flash{text: text, sev: sev, until: m.now().Add(d)}
	m.dirty = true
}

// errStay leaves the command on the line without complaining: the person goes on
// with it once something is there to see.
var errStay = errors.New("not yet")

// explain turns an error into one safe line: what happened and, when somebody
// knows, what to do next.
func explain(err error) string {
	shown := text.Drawable(err.Error())
	if next := fault.Hint(err); next != "" {
		shown += " (" + text.Drawable(next) + ")"
	}
	return shown
}
