package leak

const (
	// MaxOpen is how many bytes at the end of a text a Scanner wants to see again at most.
	MaxOpen = 48 << 10
	// shown is how many bytes from the middle of a form are let through without waiting
	// for more: most texts happen to end with one or two bytes that some form contains.
	shown = 3
)

// Scanner looks for forms in a stream, also where characters of them are escaped as
// in URLs, in JSON or in HTML.
type Scanner struct {
	finder *Finder
	runs   []Run
	plain  unescaped
	sent   [shown]byte // the end of what is judged
	known  int         // so many bytes of sent
}

// NewScanner makes a scanner, for one stream.
func NewScanner(f *Finder) *Scanner { return &Scanner{finder: f} }

// Before is the end of what was judged. The next text must begin with it.
func (s *Scanner) Before() []byte { return s.sent[shown-s.known:] }

// Scan looks at text, which begins with Before. It returns what it found behind that,
// in order and without overlap, and up to where text is judged: what stands behind must
// be given again, in front of the bytes that follow. At the end of the stream all is
// judged, and the scanner can begin with another.
//
// Wherever the stream is cut, the same is found, with one exception: of a part from the
// middle of a form, up to three bytes may have gone before the rest came. No form
// contains a line feed, so a text that ends with one is judged to its end.
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

// settled leaves those findings out that reach into what is not judged: that may be
// part of the same.
func (s *Scanner) settled(judged, seen int) ([]Run, int) {
	found := s.runs
	for i := len(found) - 1; i >= 0 && found[i].To > judged; i-- {
		judged, found = max(s.plain.whole(min(judged, found[i].From)), seen), found[:i]
	}
	return found, judged
}

// runsUnescaped adds what is found where escapes are read.
func (s *Scanner) runsUnescaped() {
	raw := len(s.runs)
	s.runs = s.finder.Runs(s.plain.text, s.runs)
	for i := raw; i < len(s.runs); i++ {
		r := &s.runs[i]
		r.From, r.To = s.plain.raw(r.From), s.plain.raw(r.To)
	}
}

// closed is up to where nothing in text depends on what comes next.
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
