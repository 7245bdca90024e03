package usage

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxEvent bounds what a Meter holds: one event of a stream, or one answer that is not a
// stream. Of longer ones, for example with pictures, the Meter reads only the end, where
// providers report the usage.
const maxEvent = 4 << 20

// Meter counts what one answer reports. It belongs to one goroutine.
type Meter struct {
	stream bool // lines of server-sent events; otherwise one JSON value
	silent bool // answers of this content type have no usage report; nothing is kept
	line   []byte
	long   *tail // the end of the current line or answer, if that exceeds maxEvent
	unread int64 // bytes of long lines and answers that did not report the usage
	count  Count
	model  string
	events int64 // lines of a stream that had data
	done   bool  // the last line, without a line feed, was read
}

// NewMeter makes a meter for an answer with the given content type.
func NewMeter(contentType string) *Meter {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	m := &Meter{stream: media == "text/event-stream"}
	m.silent = !m.stream && media != "" && !strings.Contains(media, "json")
	return m
}

// Write reads the next bytes of the answer. It never fails.
func (m *Meter) Write(p []byte) {
	if !m.stream {
		m.keep(p)
		return
	}
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			m.keep(p)
			return
		}
		if len(m.line) == 0 && m.long == nil && i <= maxEvent {
			m.event(p[:i]) // the usual case: a whole line, not copied
		} else {
			m.keep(p[:i])
			m.endLine()
		}
		p = p[i+1:]
	}
}

func (m *Meter) keep(p []byte) {
	switch {
	case m.silent:
	case m.long != nil:
		m.long.write(p)
	case len(m.line)+len(p) > maxEvent:
		m.long = &tail{}
		m.long.write(m.line)
		m.long.write(p)
		m.line = nil
	default:
		m.line = append(m.line, p...)
	}
}

// endLine reads the kept line of a stream.
func (m *Meter) endLine() {
	if m.long == nil {
		m.event(m.line)
		m.line = m.line[:0]
		return
	}
	m.events++
	m.readTail()
}

// Count returns the usage that was reported so far.
func (m *Meter) Count() Count {
	m.settle()
	return m.count
}

// Model returns the model that the provider says it used; it is empty when unknown.
func (m *Meter) Model() string {
	m.settle()
	return m.model
}

// settle reads an answer that is not a stream, or the last line of one.
func (m *Meter) settle() {
	if !m.done && !m.silent {
		m.done = true
		if m.long != nil {
			m.readTail()
			return
		}
		if m.stream {
			m.event(m.line)
			return
		}
		if bytes.HasPrefix(bytes.TrimLeft(m.line, " \t\r\n"), []byte("[")) {
			var chunks []json.RawMessage // Google streams one array without alt=sse
			if json.Unmarshal(m.line, &chunks) == nil {
				for _, c := range chunks {
					m.read(c)
				}
			}
			return
		}
		m.read(m.line)
	}
}

// event reads one line of a stream. It parses only lines that contain a usage key. Text
// of the model cannot contain one, because quotes inside a string are escaped.
func (m *Meter) event(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if ok {
		m.events++
	}
	if ok && (bytes.Contains(data, []byte(`"usage"`)) || bytes.Contains(data, []byte(`"usageMetadata"`))) {
		m.read(data)
	}
}

// read reads the report in one JSON value. Later reports of an answer replace earlier
// ones, because they are running totals.
func (m *Meter) read(data []byte) {
	var r report
	if json.Unmarshal(data, &r) != nil {
		return
	}
	for _, model := range []string{r.Model, r.ModelVersion} {
		if model != "" {
			m.model = model
		}
	}
	for _, inner := range []*message{r.Message, r.Response} {
		if inner != nil {
			if inner.Model != "" {
				m.model = inner.Model
			}
			m.tokens(inner.Usage)
			m.tier(inner.Tier)
		}
	}
	m.tokens(r.Usage)
	m.tier(r.Tier)
	m.google(r.Google)
}

// tokens reads the numbers of a report.
func (m *Meter) tokens(t *tokens) {
	if t == nil {
		return
	}
	c := t.over(m.count)
	var rounds Count
	for i := range t.Rounds {
		rounds = rounds.sane(t.Rounds[i].over(Count{}))
	}
	// The totals next to the rounds may leave out some rounds, or all but the last.
	c.In, c.Out = max(c.In, rounds.In), max(c.Out, rounds.Out)
	c.CacheRead, c.CacheWrite = max(c.CacheRead, rounds.CacheRead), max(c.CacheWrite, rounds.CacheWrite)
	c.CacheHour = max(c.CacheHour, rounds.CacheHour)
	m.count = c
}

// tier reads the service tier that the provider reports.
func (m *Meter) tier(name string) {
	if name == "priority" || name == "fast" {
		m.count.Fast = true
	}
}

// google reads a report of Google.
func (m *Meter) google(g *google) {
	if g == nil {
		return
	}
	cached := sane(g.Cached)
	m.count.In = sane(sane(sane(g.Prompt)-cached) + sane(g.Tools))
	m.count.Out = sane(sane(g.Answer) + sane(g.Thoughts))
	m.count.CacheRead = cached
}
