package scripted

import "regexp"

// queuedMessage is how Claude Code passes on what the person says while it works: in a text beside
// the results of the calls, with a note of its own after it.
var queuedMessage = regexp.MustCompile(`(?s)^\s*The user sent a new message while you were working:\n(.*?)(\n\nThis is how Claude Code surfaces messages.*)?$`)

// take notes what one message of the agent brings beside results. An order that comes while another
// is carried out waits for its turn, as the agent says when it passes it on.
func (c *conversation) take(parts []string) {
	var said, queued []string
	for _, p := range parts {
		if m := queuedMessage.FindStringSubmatch(p); m != nil {
			queued = append(queued, m[1])
		} else {
			said = append(said, p)
		}
	}
	c.said(said)
	c.queued, c.before = append(c.queued, queued...), ""
	for len(c.queued) > 0 {
		a := decide(c)
		if a.call != nil || a.search != "" {
			return
		}
		c.before += a.text + "\n\n"
		c.prompts, c.results, c.queued = c.queued[:1], nil, c.queued[1:]
	}
}
