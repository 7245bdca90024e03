package mitm

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/leak"
)

const (
	// minSecret is how long a credential must be to be told from other text.
	minSecret = 8
	// maxSecret is how long a credential may be.
	maxSecret = 8 << 10
)

// matcher knows the texts that must not pass. It is fixed after it is made, so
// that one serves all answers for a list of credentials.
type matcher struct {
	finder *leak.Finder
	all    []Credential // that it was made for
	names  int          // the number of the first form that is an account's name, and no secret
}

// newMatcher makes a matcher for credentials and the accounts that they belong to;
// nil without one.
func newMatcher(all []Credential) *matcher {
	var secrets, accounts []leak.Form
	for i, c := range all {
		if c.Value != "" {
			secrets = append(secrets, leak.Forms(c.Value)...)
		}
		named := func(o Credential) bool { return o.Account == c.Account }
		if len(c.Account) >= minSecret && !slices.ContainsFunc(all[:i], named) {
			accounts = append(accounts, leak.Whole(c.Account))
		}
	}
	if secrets == nil {
		return nil
	}
	return &matcher{leak.NewFinder(append(secrets, accounts...)), all, len(secrets)}
}

// watcher looks for the real credential in an answer and puts the sentinel in
// its place, for a part of it as for the whole. It finds the credential as it is, and in
// the encodings in which a server could echo it (leak.Forms), escaped or not.
//
// It works on a stream: bytes at the end of what has come are held back while they could
// become a part of the credential, except for up to three from the middle of it. An
// event of a stream ends with a line feed, which no credential contains, so no complete
// event ever waits.
//
// The account that a login belongs to gets the name that the agent knows it by.
type watcher struct {
	*matcher    // nil when there is nothing to watch for
	scanner     *leak.Scanner
	replacement string
	found       int
}

// watcher returns a watcher for credentials.
func (g *guarded) watcher(all []Credential) *watcher {
	w := &watcher{replacement: g.sentinel.value, matcher: g.matcher.Load()}
	if !w.knows(all) {
		if w.matcher = newMatcher(all); w.matcher == nil {
			return w
		}
		g.matcher.Store(w.matcher)
	}
	w.scanner = leak.NewScanner(w.finder)
	return w
}

// knows says whether a matcher was made for these credentials, whose list is never
// changed in place.
func (m *matcher) knows(all []Credential) bool {
	return m != nil && len(all) > 0 && len(all) == len(m.all) && &all[0] == &m.all[0]
}

// before is the end of what was sent. It must stand in front of what is scanned next.
func (w *watcher) before() []byte {
	if w.matcher == nil {
		return nil
	}
	return w.scanner.Before()
}

// scan returns the bytes of data behind before that may be sent, with the credential
// replaced, and the end of data that must be given again in front of the next
// bytes. Without a finding, safe and held are parts of data. At the end of the
// stream nothing is held.
func (w *watcher) scan(data []byte, end bool) (safe, held []byte) {
	if w.matcher == nil {
		return data, nil
	}
	from := len(w.scanner.Before())
	found, judged := w.scanner.Scan(data, end)
	if len(found) == 0 {
		return data[from:judged], data[judged:]
	}
	for _, r := range found {
		safe = append(append(safe, data[from:r.From]...), w.instead(r)...)
		from = r.To
	}
	return append(safe, data[from:judged]...), data[judged:]
}

// instead is what takes the place of what was found.
func (w *watcher) instead(r leak.Run) string {
	if r.Form >= w.names {
		return SentinelAccount
	}
	w.found++
	return w.replacement
}

// text masks a complete text.
func (w *watcher) text(s string) string {
	if w.matcher == nil || w.finder.Short(len(s)) {
		return s
	}
	safe, _ := w.scan([]byte(s), true)
	return string(safe)
}
