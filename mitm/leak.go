package mitm

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/leak"
)

const (
	// minSecret is the least length of a credential, in bytes. A shorter one cannot be
	// distinguished from other text.
	minSecret = 8
	// maxSecret is the greatest length of a credential, in bytes.
	maxSecret = 8 << 10
)

// matcher finds the texts that must not pass. It does not change after it was made, so
// one matcher serves all answers for a list of credentials.
type matcher struct {
	finder *leak.Finder
	all    []Credential // the credentials that it was made for
	names  int          // the number of the first form that is an account's name and not a secret
}

// newMatcher makes a matcher for credentials and the names of their accounts. It returns
// nil if there is no credential.
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

// watcher finds the real credential, or a part of it, in an answer and replaces it by
// the sentinel. It finds the credential unchanged and in the encodings in which a server
// could echo it (leak.Forms), escaped or not.
//
// It works on a stream: it holds back bytes at the end while they could become a part of
// the credential, except up to three bytes from the middle of the credential. An event
// of a stream ends with a line feed, which no credential contains, so complete events
// are never held back.
//
// It replaces the name of a login's account by SentinelAccount.
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

// knows reports whether a matcher was made for these credentials. It compares the lists'
// addresses, because a list is never changed in place.
func (m *matcher) knows(all []Credential) bool {
	return m != nil && len(all) > 0 && len(all) == len(m.all) && &all[0] == &m.all[0]
}

// before returns the last bytes that were sent. The next data for scan must begin with
// them.
func (w *watcher) before() []byte {
	if w.matcher == nil {
		return nil
	}
	return w.scanner.Before()
}

// scan returns the bytes of data after before that may be sent, with the credential
// replaced, and the held bytes at the end of data, which must be passed again before the
// next bytes. If nothing was found, safe and held are slices of data. With end set,
// nothing is held.
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
		safe = append(append(safe, data[from:r.From]...), w.substitute(r)...)
		from = r.To
	}
	return append(safe, data[from:judged]...), data[judged:]
}

// substitute returns the replacement for a finding and counts leaked secrets.
func (w *watcher) substitute(r leak.Run) string {
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
