package leak

const (
	// MaxOpen is the most bytes at the end of a text that a Scanner leaves unjudged.
	MaxOpen = 48 << 10
	// shown is how many bytes from the middle of a form are judged without waiting for
	// more, because most texts end by chance with one or two bytes that some form
	// contains.
	shown = 3
)

// Scanner finds forms in a stream, also if their characters are escaped as in URLs, in
// JSON or in HTML.
type Scanner struct {
	finder *Finder
	runs   []Run
	plain  unescaped
	sent   [shown]byte // the end of the judged text
	known  int         // how many bytes of sent are used
}

// NewScanner makes a scanner for one stream.
func NewScanner(f *Finder) *Scanner { return &Scanner{finder: f} }

// Before returns the end of the judged text. The next text must begin with it.
func (s *Scanner) Before() []byte { return s.sent[shown-s.known:] }

// Scan searches text, which begins with Before. It returns what it found after Before, in
// order and without overlap, and the position up to which text is judged. The rest of
// text must be passed again, before the bytes that follow. At the end of the stream, all
// of text is judged, and the scanner can be used for another stream.
//
// The findings do not depend on how the stream is split, with one exception: up to three
// bytes of a part from the middle of a form may have been judged before the rest came. No
// form contains a line feed, so a text that ends with a line feed is judged to its end.
func (s *Scanner) Scan(text []byte, end bool) (found []Run, judged int) {
	seen := s.known
	s.runs = s.finder.Runs(text, s.runs[:0])
	if s.plain.read(s.finder, text) {
		s.runsUnescaped()
	}
	s.runs = Merge(s.runs)
	judged = s.closed(text)
	for len(s.runs) > 0 && s.runs[0].To <= seen {
		s.runs = s.runs[1:]
	}
	if len(s.runs) > 0 {
		s.runs[0].From = max(s.runs[0].From, seen)
	}
	if end {
		s.known = 0
		return s.runs, len(text)
	}
	found, judged = s.settled(max(judged, seen), seen)
	if len(text)-judged > MaxOpen {
		found, judged = s.runs, len(text)
	}
	s.known = min(judged, shown)
	copy(s.sent[shown-s.known:], text[judged-s.known:judged])
	return found, judged
}

// settled leaves out findings that reach into the unjudged text, because they may become
// longer. It moves judged to their beginning.
func (s *Scanner) settled(judged, seen int) ([]Run, int) {
	found := s.runs
	for i := len(found) - 1; i >= 0 && found[i].To > judged; i-- {
		judged, found = max(s.plain.whole(min(judged, found[i].From)), seen), found[:i]
	}
	return found, judged
}

// runsUnescaped adds the findings in the text with decoded escapes.
func (s *Scanner) runsUnescaped() {
	raw := len(s.runs)
	s.runs = s.finder.Runs(s.plain.text, s.runs)
	for i := raw; i < len(s.runs); i++ {
		r := &s.runs[i]
		r.From, r.To = s.plain.raw(r.From), s.plain.raw(r.To)
	}
}

// closed returns the position up to which the findings do not depend on the next bytes.
func (s *Scanner) closed(text []byte) int {
	f, u := s.finder, &s.plain
	found := len(s.runs) > 0 && s.runs[len(s.runs)-1].To == len(text)
	closed := len(text) - f.open(text, -1, found)
	if len(u.marks) == 0 {
		if u.cut < len(text) {
			closed = min(closed, u.cut-f.open(text[:u.cut], -1, false))
		}
		return closed
	}
	last := u.marks[len(u.marks)-1].at - 1
	return u.whole(min(closed, u.raw(len(u.text)-f.open(u.text, last, found)), u.cut))
}
