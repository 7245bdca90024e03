package view

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxParagraph is how many bytes of a paragraph are kept before it is shown unfinished.
const maxParagraph = 16 << 10

// markdown turns the model's text, as it arrives, into rows. An item of a list is a paragraph here,
// too, and so is a line of code. A paragraph is done when later text cannot change it any more.
type markdown struct {
	width   int
	partial string // the line that has not ended
	fence   string // the line that ends the current block of code; empty outside of one
	block   block  // the paragraph that may continue
	gap     bool   // an empty row comes before the next paragraph
	begun   bool   // something was shown
	done    []row
}

// block is a paragraph, or the lines of a table.
type block struct {
	first, rest string // prefixes of the first row and of the others
	text        string
	style       style
	table       bool
}

var (
	heading   = regexp.MustCompile(`^#{1,6}[ \t]+(.*?)[ \t]*#*$`)
	ruler     = regexp.MustCompile(`^(\*[ \t]*){3,}$|^(-[ \t]*){3,}$|^(_[ \t]*){3,}$`)
	item      = regexp.MustCompile(`^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)$`)
	codeFence = regexp.MustCompile("^(`{3,})[^`]*$|^(~{3,})")
	underline = regexp.MustCompile(`^[|:\- \t]+$`)
)

// add adds a piece of the model's text and returns the rows that are done.
func (m *markdown) add(piece string, width int) []row {
	m.width = max(width, 2)
	for {
		line, rest, ended := strings.Cut(piece, "\n")
		m.partial += line
		for len(m.partial) > maxParagraph {
			cut := len(whole(m.partial[:maxParagraph]))
			m.line(m.partial[:cut])
			m.flush()
			m.partial = m.partial[cut:]
		}
		if !ended {
			break
		}
		m.line(m.partial)
		m.partial, piece = "", rest
	}
	return m.take()
}

// end returns the remaining rows and resets m.
func (m *markdown) end(width int) []row {
	m.width = max(width, 2)
	if m.partial != "" {
		m.line(m.partial)
	}
	m.flush()
	done := m.take()
	*m = markdown{}
	return done
}

// live returns the rows that end would return now, without changing m.
func (m *markdown) live(width, rows int) []row {
	c := *m
	c.partial = whole(c.partial)
	if limit := width * rows * 4; !c.block.table && len(c.block.text) > limit {
		c.block.text = strings.ToValidUTF8(c.block.text[len(c.block.text)-limit:], "")
	}
	return c.end(width)
}

// whole returns s without an incomplete character at its end.
func whole(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if at := len(s) - i; utf8.RuneStart(s[at]) {
			if !utf8.FullRuneInString(s[at:]) {
				return s[:at]
			}
			break
		}
	}
	return s
}

func (m *markdown) take() []row {
	done := m.done
	m.done = nil
	return done
}

func (m *markdown) show(rows ...row) {
	if m.gap && m.begun {
		m.done = append(m.done, nil)
	}
	m.gap, m.begun = false, true
	m.done = append(m.done, rows...)
}

// line adds a complete line.
func (m *markdown) line(l string) {
	l = strings.TrimSuffix(l, "\r")
	words := strings.Trim(l, " \t")
	if m.fence != "" {
		if strings.HasPrefix(words, m.fence) && strings.Trim(words, m.fence[:1]) == "" {
			m.fence = ""
		} else {
			indent := own("  ", 0)[:min(2, m.width/4)]
			m.show(prefixed(indent, indent, wrap(foreign(l, code), m.width-len(indent), false))...)
		}
		return
	}
	quote := strings.HasPrefix(words, ">")
	if words == "" {
		m.flush()
		m.gap = true
	} else if f := codeFence.FindStringSubmatch(words); f != nil {
		m.flush()
		m.fence = f[1] + f[2]
	} else if h := heading.FindStringSubmatch(words); h != nil {
		m.start(block{text: h[1], style: strong})
		m.flush()
	} else if ruler.MatchString(words) {
		m.start(block{text: strings.Repeat("─", min(m.width, 20)), style: muted})
		m.flush()
	} else if i := item.FindStringSubmatch(l); i != nil {
		sign := strings.ReplaceAll(i[1], "\t", "    ")
		sign = sign[:min(len(sign), m.width/4)]
		rest := sign + strings.Repeat(" ", len(i[2])+1)
		if len(i[2]) == 1 {
			i[2] = "•"
		}
		m.start(block{first: sign + i[2] + " ", rest: rest, text: i[3]})
	} else if table := strings.HasPrefix(words, "|"); table && m.block.table {
		m.block.text += "\n" + words
	} else if table {
		m.start(block{text: words, table: true})
	} else if quote && m.block.first != "▎ " {
		m.start(block{first: "▎ ", rest: "▎ ", text: strings.Trim(words[1:], " \t"), style: slanted})
	} else if m.block.text == "" || m.block.table {
		m.start(block{text: words})
	} else {
		glue := " "
		if before, hard := strings.CutSuffix(m.block.text, "\\"); hard {
			m.block.text, glue = before, "\n"
		}
		if quote {
			words = strings.Trim(words[1:], " \t")
		}
		m.block.text += glue + words
	}
	if strings.HasSuffix(l, "  ") && m.block.text != "" && !m.block.table {
		m.block.text += "\\"
	}
	if len(m.block.text) > maxParagraph {
		m.flush()
	}
}

// start starts another paragraph.
func (m *markdown) start(b block) {
	m.flush()
	m.block = b
}

// flush ends the current paragraph and adds its rows to done.
func (m *markdown) flush() {
	b := m.block
	m.block = block{}
	if b.table {
		m.show(tableRows(strings.Split(b.text, "\n"), m.width)...)
	} else if b.text != "" {
		first, rest := own(b.first, muted), own(b.rest, muted)
		if m.width-len(rest) < 4 {
			first, rest = nil, nil // no room for prefixes
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(b.text, "\\"), "\n") {
			m.show(prefixed(first, rest, wrap(inline(line, b.style, 0), m.width-len(rest), true))...)
			first = rest
		}
	}
}

// tableRows returns the lines of a table as rows, with aligned columns if the width allows that.
func tableRows(lines []string, width int) (rows []row) {
	var cells [][]row
	var widths []int
	head := false
	for i, line := range lines {
		if i == 1 && underline.MatchString(line) {
			head = true
			continue
		}
		var cs []row
		for n, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cs = append(cs, inline(strings.Trim(c, " \t"), 0, 0))
			if n == len(widths) {
				widths = append(widths, 0)
			}
			widths[n] = max(widths[n], columns(cs[n]...))
		}
		cells = append(cells, cs)
	}
	total := 0
	for _, w := range widths {
		total += w + 3
	}
	for i, cs := range cells {
		var r row
		for n, c := range cs {
			if n > 0 {
				r = append(r, own(" │ ", muted)...)
			}
			if i == 0 && head {
				for k := range c {
					c[k].s |= strong
				}
			}
			r = append(r, c...)
			if n+1 < len(cs) && total-3 <= width {
				r = append(r, own(strings.Repeat(" ", widths[n]-columns(c...)), 0)...)
			}
		}
		rows = append(rows, wrap(r, width, true)...)
	}
	return rows
}
