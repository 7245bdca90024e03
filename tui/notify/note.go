package notify

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Occasion is a kind of event about which a person is notified.
type Occasion string

// The occasions.
const (
	Escalated Occasion = "escalation"
	Done      Occasion = "done"
	Dead      Occasion = "dead"
)

// Occasions returns the names of all occasions.
func Occasions() []string { return []string{string(Escalated), string(Done), string(Dead)} }

// Call describes a waiting call by its server and tool, without its arguments. The tool of a model
// request is the method and path; Call omits the path, because the agent chooses it.
func Call(e broker.Escalation) string {
	tool := e.Tool
	if e.Plane == "http" {
		tool, _, _ = strings.Cut(tool, " /")
	}
	still := ""
	if e.HalfOver {
		still = " still waits"
	}
	return fmt.Sprintf("approval #%d%s: %s/%s", e.Number, still, e.Server, tool)
}

// note is one notification. It contains no text that an agent wrote, no name that a person gave, and
// no path.
type note struct {
	what    Occasion
	session broker.Session
	text    string
}

// environment returns the variables that describe a notification to the command.
func (n note) environment() []string {
	title := "ironcurtain-mux"
	if n.session.Agent != "" {
		title += fmt.Sprintf(" %s %s", text.Drawable(n.session.Agent), broker.ShortID(n.session.ID))
	}
	return []string{
		"IRONCURTAIN_EVENT=" + string(n.what),
		"IRONCURTAIN_AGENT=" + text.Drawable(n.session.Agent),
		"IRONCURTAIN_SESSION=" + n.session.ID,
		"IRONCURTAIN_TITLE=" + title,
		"IRONCURTAIN_TEXT=" + text.Drawable(n.text),
	}
}

// ended says how an agent has ended. It omits the reason, which may contain paths.
func ended(s broker.Session) string {
	if s.ExitCode == 0 {
		return "ended"
	}
	return fmt.Sprintf("ended with exit code %d", s.ExitCode)
}
