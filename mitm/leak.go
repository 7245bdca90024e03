package mitm

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

const (
	// minSecret is how long a credential must be to be told from other text.
	minSecret = 8
	// maxSecret is how long a credential may be, and maxSecretBytes its longest
	// form, which bounds what one scan holds back.
	maxSecret      = 8 << 10
	maxSecretBytes = 6 * maxSecret
)

// matcher knows the texts that must not pass. It is fixed after it is made, so
// that one serves all answers for a credential.
type matcher struct {
	all      []Credential // that it was made for
	secrets  []string
	accounts []string // that are renamed, and are no secrets
	patterns [][]byte
	shortest int
	longest  int
	shift    [1 << 16]uint8 // by two bytes: how far the search may jump
	firsts   [256]bool      // first bytes of patterns
}

// newMatcher makes a matcher for one or more credentials and the accounts that
// they belong to.
func newMatcher(secrets, accounts []string) *matcher {
	m := &matcher{secrets: secrets, accounts: accounts, shortest: 128}
	for _, a := range accounts {
		m.patterns = append(m.patterns, []byte(a))
	}
	for _, s := range secrets {
		m.patterns = append(m.patterns, forms(s)...)
		m.longest = max(m.longest, longestEscape*len(s))
	}
	for _, lead := range []byte(escapeLeads) {
		m.firsts[lead] = true
	}
	for _, p := range m.patterns {
		m.shortest, m.longest = min(m.shortest, len(p)), max(m.longest, len(p))
		m.firsts[p[0]] = true
	}
	for i := range m.shift {
		m.shift[i] = uint8(m.shortest - 1)
	}
	for _, p := range m.patterns {
		for i := 0; i+1 < m.shortest; i++ {
			pair := uint16(p[i])<<8 | uint16(p[i+1])
			m.shift[pair] = min(m.shift[pair], uint8(m.shortest-2-i))
		}
	}
	return m
}

// watcher looks for the real credential in an answer and puts the sentinel in
// its place. It finds the credential as it is, and in the encodings in which a
// server could echo it: base64 at each of its three alignments, hex, reversed,
// and with any of its characters escaped as in URLs or in JSON.
//
// It works on a stream: what could be the beginning of the credential at the
// end of the seen bytes is held back until the next bytes decide. An event of
// a stream ends with a line feed, which no credential holds, so that no
// complete event ever waits.
//
// The account that a login belongs to gets the name that the agent knows it by.
type watcher struct {
	*matcher    // nil when there is nothing to watch for
	replacement string
	found       int
}

// watcher returns a watcher for credentials.
func (g *guarded) watcher(all []Credential) *watcher {
	w := &watcher{replacement: g.sentinel.value}
	if w.matcher = g.matcher.Load(); w.knows(all) {
		return w
	}
	w.matcher = nil
	var secrets, accounts []string
	for _, c := range all {
		if c.Value != "" {
			secrets = append(secrets, c.Value)
		}
		if len(c.Account) >= minSecret && !slices.Contains(accounts, c.Account) {
			accounts = append(accounts, c.Account)
		}
	}
	if secrets == nil {
		return w
	}
	w.matcher = newMatcher(secrets, accounts)
	w.all = all
	g.matcher.Store(w.matcher)
	return w
}

// knows says whether a matcher was made for these credentials, whose list is never
// changed in place.
func (m *matcher) knows(all []Credential) bool {
	return m != nil && len(all) > 0 && len(all) == len(m.all) && &all[0] == &m.all[0]
}

// forms lists the texts by which a secret is known.
func forms(secret string) [][]byte {
	all := [][]byte{[]byte(secret)}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for align := range 3 {
			// Characters that mix in bits of what stands around are left out.
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", align) + secret))
			text = text[[]int{0, 2, 3}[align] : len(text)-1]
			all = append(all, []byte(text))
		}
	}
	digits := hex.EncodeToString([]byte(secret))
	all = append(all, []byte(digits), []byte(strings.ToUpper(digits)))
	reversed := []byte(secret)
	slices.Reverse(reversed)
	all = append(all, reversed)
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// scan returns the bytes of data that may be sent, with the credential
// replaced, and the end of data that must be given again in front of the next
// bytes. Without a finding, safe and held are parts of data. At the end of the
// stream nothing is held; what then is most of a credential is masked too.
func (w *watcher) scan(data []byte, end bool) (safe, held []byte) {
	if w.matcher == nil {
		return data, nil
	}
	from, n := w.find(data)
	if from >= 0 {
		rest := data
		for from >= 0 {
			safe = append(append(safe, rest[:from]...), w.instead(rest[from:from+n])...)
			rest = rest[from+n:]
			from, n = w.find(rest)
		}
		k := w.partial(rest)
		safe, held = append(safe, rest[:len(rest)-k]...), rest[len(rest)-k:]
	} else {
		k := w.partial(data)
		safe, held = data[:len(data)-k], data[len(data)-k:]
	}
	if !end || len(held) == 0 {
		return safe, held
	}
	if w.mostly(held) {
		w.found++
		held = []byte(w.replacement)
	}
	return append(slices.Clone(safe), held...), nil
}

// instead is what takes the place of a text that was found.
func (w *watcher) instead(text []byte) string {
	if slices.Contains(w.accounts, string(text)) {
		return SentinelAccount
	}
	w.found++
	return w.replacement
}

// text masks a complete text. One that is shorter than half of all that is looked
// for holds none of it.
func (w *watcher) text(s string) string {
	if w.matcher == nil || 2*len(s) < w.shortest {
		return s
	}
	safe, _ := w.scan([]byte(s), true)
	return string(safe)
}

// find returns the place and length of the first appearance of a credential in
// data, or -1.
func (m *matcher) find(data []byte) (from, n int) {
	from, n = m.findPattern(data)
	if at, length := m.findEscaped(data); at >= 0 && (from < 0 || at < from) {
		return at, length
	}
	return from, n
}

// findPattern returns the place and length of the first pattern in data, the
// longest of those that begin there, or -1.
func (m *matcher) findPattern(data []byte) (from, n int) {
	window := m.shortest
	for i := window - 2; i+1 < len(data); {
		if skip := m.shift[uint16(data[i])<<8|uint16(data[i+1])]; skip > 0 {
			i += int(skip)
			continue
		}
		start := i - (window - 2)
		best := 0
		for _, p := range m.patterns {
			if len(p) > best && bytes.HasPrefix(data[start:], p) {
				best = len(p)
			}
		}
		if best > 0 {
			return start, best
		}
		i++
	}
	return -1, 0
}

// partial returns how many bytes at the end of data could begin a pattern.
func (m *matcher) partial(data []byte) int {
	for i := max(0, len(data)-m.longest+1); i < len(data); i++ {
		if !m.firsts[data[i]] {
			continue
		}
		for _, p := range m.patterns {
			if len(p) > len(data)-i && bytes.HasPrefix(p, data[i:]) {
				return len(data) - i
			}
		}
		for _, s := range m.secrets {
			if _, _, cut := matchEscaped(s, data[i:]); cut {
				return len(data) - i
			}
		}
	}
	return 0
}

// mostly says whether the beginning of a credential is more than half of it.
func (m *matcher) mostly(held []byte) bool {
	for _, s := range m.secrets {
		if known, _, cut := matchEscaped(s, held); cut && known > len(s)/2 {
			return true
		}
	}
	return slices.ContainsFunc(m.patterns, func(p []byte) bool {
		return len(held) > len(p)/2 && bytes.HasPrefix(p, held) && !slices.Contains(m.accounts, string(p))
	})
}
