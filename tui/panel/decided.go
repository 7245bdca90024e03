package panel

import (
	"fmt"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// DeciderName returns a name for whoever decided something, and for the client that they used, as the
// screen of the client me shows it.
func DeciderName(by string, with, me broker.Client) string {
	mine := with == broker.Client{} || with.ID == me.ID
	switch {
	case by == broker.ByLine && mine:
		return "you"
	case by == broker.ByKey && mine:
		return "you with one key"
	case by == "":
		return "the broker"
	}
	return text.Drawable(with.Decider(by))
}

// DecidedText says in one line how a call was decided: by whom, after how long, which call, by which
// rule, and on which grounds.
func DecidedText(d broker.Decided, me broker.Client) string {
	var b strings.Builder
	switch d.Decision {
	case "escalated-approved":
		fmt.Fprintf(&b, "approved by %s", DeciderName(d.By, d.Client, me))
	case "escalated-denied":
		fmt.Fprintf(&b, "denied by %s", DeciderName(d.By, d.Client, me))
	case "escalated-expired":
		b.WriteString("expired, nobody decided")
	case "escalated-withdrawn":
		b.WriteString("withdrawn")
	case "auto-approved":
		b.WriteString("approved automatically")
	case "granted":
		fmt.Fprintf(&b, "allowed by grant %s, which %s made", detail(d, "grant"), DeciderName(d.By, d.Client, me))
	default:
		b.WriteString(text.Drawable(d.Decision))
	}
	if d.Waited > 0 {
		fmt.Fprintf(&b, " after %s", d.Waited.Round(100*time.Millisecond))
	}
	fmt.Fprintf(&b, ": %s/%s %s", text.Drawable(d.Server), text.Drawable(d.Tool), text.Drawable(string(d.Arguments)))
	fmt.Fprintf(&b, " (rule %s)", text.Drawable(d.Rule))
	if d.Reason != "" && (d.Decision == "escalated-denied" || d.Decision == "escalated-withdrawn") {
		fmt.Fprintf(&b, "; the agent was told: %s", text.Drawable(d.Reason))
	}
	if d.Detail["askedBeforeRestart"] == true {
		b.WriteString("; asked before the restart")
	}
	for _, ground := range []struct{ name, label string }{{"remembered", "remembered"}, {"receipt", "receipt"}, {"quote", "you wrote"}} {
		if text := detail(d, ground.name); text != "" {
			fmt.Fprintf(&b, "; %s: %s", ground.label, text)
		}
	}
	return b.String()
}

// detail returns one of the details that the audit recorded with a decision, sanitized; empty: the
// decision has no such detail.
func detail(d broker.Decided, name string) string {
	v, ok := d.Detail[name]
	if !ok {
		return ""
	}
	return text.Drawable(fmt.Sprint(v))
}
