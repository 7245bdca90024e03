package audit

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/leak"
)

// Redactor masks secrets in text: known values and parts of them (package leak) first, then what
// has the shape of a credential. All patterns run in linear time.
type Redactor struct {
	known   *leak.Finder // values, plain and as JSON writes them
	needles needles      // every credential contains one of these, except numbers
}

// minSecret is the length below which a value is not treated as a secret, because it would
// match everywhere.
const minSecret = leak.MinSecret

// masked replaces a secret.
const masked = "[REDACTED]"

// NewRedactor makes a redactor that also knows these values.
func NewRedactor(secrets []string) *Redactor {
	r := &Redactor{}
	seen := map[string]bool{}
	var known []leak.Form
	add := func(s string, form func(string) leak.Form) {
		if len(s) >= minSecret && !seen[s] {
			seen[s] = true
			known = append(known, form(s))
		}
	}
	for _, s := range secrets {
		quoted, err := json.Marshal(s)
		if err == nil && string(quoted[1:len(quoted)-1]) == s {
			add(s, leak.Plain)
			continue
		}
		add(s, leak.Whole) // a part could end inside an escape
		if err == nil {
			add(string(quoted[1:len(quoted)-1]), leak.Whole)
		}
	}
	r.known = leak.NewFinder(known)
	for _, k := range shapes {
		r.needles.add(k.needle)
	}
	return r
}

// shape is a kind of credential: a literal that must occur, and the pattern.
type shape struct {
	needle  string
	pattern *regexp.Regexp
}

var shapes = []shape{
	{"sk-", regexp.MustCompile(`\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{16,}`)},
	{"gh", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{20,}`)},
	{"github_pat_", regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{20,}`)},
	{"glpat-", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{16,}`)},
	{"xox", regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{"AKIA", regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`)},
	{"ASIA", regexp.MustCompile(`\bASIA[0-9A-Z]{16}\b`)},
	{"AIza", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`)},
	{"npm_", regexp.MustCompile(`\bnpm_[A-Za-z0-9]{30,}`)},
	{"eyJ", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
	{"-----BEGIN", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\:,.-]*`)},
	{"://", regexp.MustCompile(`://[^/@\s"']*:[^/@\s"']+@`)},
	{"earer ", regexp.MustCompile(`\b[Bb]earer [A-Za-z0-9._~+/=-]{12,}`)},
}

// Candidates for card and social security numbers.
var (
	cards  = regexp.MustCompile(`\b(?:\d[ -]?){12,18}\d\b`)
	social = regexp.MustCompile(`\b\d{3}-\d{2}-\d{4}\b`)
)

// secretNames are names of arguments whose value is a secret as a whole.
var secretNames = regexp.MustCompile(`(?i)^(?:.*[_-])?(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|token|authorization|cookie|credentials?)$`)

// secretName reports whether a name is one of secretNames. The last four letters rule out
// most names.
func secretName(name []byte) bool {
	if len(name) < len("token") {
		return false
	}
	end := name[len(name)-4:]
	switch last := string([]byte{end[0] | 0x20, end[1] | 0x20, end[2] | 0x20, end[3] | 0x20}); last {
	case "word", "sswd", "rase", "cret", "oken", "tion", "okie", "tial", "ials":
		return secretNames.Match(name)
	default:
		return last[1:] == "key" && secretNames.Match(name)
	}
}

// needles are texts of at least two bytes, by the two that they begin with.
type needles struct {
	begins [1 << 16 / 64]uint64 // a bit for each pair
	texts  []string
}

func (n *needles) add(text string) {
	pair := uint16(text[0])<<8 | uint16(text[1])
	n.begins[pair/64] |= 1 << (pair % 64)
	n.texts = append(n.texts, text)
}

// in reports whether doc contains any of them.
func (n *needles) in(doc []byte) bool {
	for i := 0; i+1 < len(doc); i++ {
		pair := uint16(doc[i])<<8 | uint16(doc[i+1])
		if n.begins[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		for _, text := range n.texts {
			if len(text) <= len(doc)-i && string(doc[i:i+len(text)]) == text {
				return true
			}
		}
	}
	return false
}

// Text returns s without secrets.
func (r *Redactor) Text(s string) string {
	s = r.Known(s)
	for _, k := range shapes {
		if !strings.Contains(s, k.needle) {
			continue
		}
		s = k.pattern.ReplaceAllStringFunc(s, func(m string) string {
			if k.needle == "://" {
				return "://" + masked + "@"
			}
			if k.needle == "-----BEGIN" {
				return masked
			}
			return m[:4] + masked
		})
	}
	if digits(s) >= leastDigits {
		s = cards.ReplaceAllStringFunc(s, maskCard)
		s = social.ReplaceAllStringFunc(s, maskSocial)
	}
	return s
}

// Changes reports whether s, a text or a document, has a secret in it or was redacted.
func (r *Redactor) Changes(s string) bool {
	return strings.Contains(s, masked) || r.Text(s) != s || string(r.JSON(json.RawMessage(s))) != s
}

// Known returns s without the known values and parts of them. It leaves what only has the shape of
// a credential.
func (r *Redactor) Known(s string) string {
	if spans := r.Spans(s); len(spans) > 0 {
		return r.Cut(s, 0, len(s), spans)
	}
	return s
}

// Spans finds the known values and parts of them in s: where each begins and ends, in
// order and without overlap.
func (r *Redactor) Spans(s string) [][2]int {
	var spans [][2]int
	for _, run := range leak.Merge(r.known.Runs([]byte(s), nil)) {
		if from := behindEscape(s, run.From); from < run.To {
			spans = append(spans, [2]int{from, run.To})
		}
	}
	return spans
}

// behindEscape returns at, or the end of the JSON escape that contains it: the n of \n can be in a
// secret, too.
func behindEscape(s string, at int) int {
	for i := at - 1; i >= max(0, at-5); i-- {
		if s[i] != '\\' {
			continue
		}
		before := len(s[:i]) - len(strings.TrimRight(s[:i], `\`))
		if before%2 == 1 {
			continue // this backslash is itself escaped
		}
		end := i + len(`\n`)
		if s[i+1] == 'u' {
			end = i + len(`\u0000`)
		}
		return max(at, end)
	}
	return at
}

// Cut returns s[start:end] without the spans. The mask is put into the part in which a span
// begins.
func (r *Redactor) Cut(s string, start, end int, spans [][2]int) string {
	var out strings.Builder
	at := start
	for _, span := range spans {
		if span[1] <= start || span[0] >= end {
			continue
		}
		if span[0] >= start {
			out.WriteString(s[at:span[0]])
			out.WriteString(masked)
		}
		at = min(span[1], end)
	}
	out.WriteString(s[at:end])
	return out.String()
}

// JSON redacts the string values of a document and leaves names, numbers and
// the structure alone. A document without secrets is returned as it is.
func (r *Redactor) JSON(doc json.RawMessage) json.RawMessage {
	var out, name []byte
	copied := 0
	doubtful := r.needles.in(doc) || len(r.known.Runs(doc, nil)) > 0
	for i := 0; i < len(doc); i++ {
		if doc[i] != '"' {
			continue
		}
		end := jsonx.StringEnd(doc, i)
		if end < 0 {
			break
		}
		text := doc[i+1 : end]
		next := afterSpace(doc[end+1:])
		if next == ':' {
			name, i = text, end
			continue
		}
		clean, changed := masked, len(text) > 0 && secretName(name)
		if !changed && (doubtful || digits(text) >= leastDigits) {
			clean = r.Text(string(text))
			changed = clean != string(text)
		}
		if changed {
			out = append(append(out, doc[copied:i+1]...), clean...)
			copied = end
		}
		i = end
		if next == '}' {
			name = nil
		}
	}
	if copied == 0 {
		return doc
	}
	return append(out, doc[copied:]...)
}

// afterSpace returns the first byte of doc that is no white space; 0 without one.
func afterSpace(doc []byte) byte {
	for _, c := range doc {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// leastDigits is how many digits the shortest number has that is masked.
const leastDigits = 9

func digits[T ~string | ~[]byte](s T) int {
	n := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// maskCard keeps the ends of a number that has the checksum of a card.
func maskCard(m string) string {
	sum, n := 0, 0
	for i := len(m) - 1; i >= 0; i-- {
		if m[i] < '0' || m[i] > '9' {
			continue
		}
		d := int(m[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	if sum%10 != 0 {
		return m
	}
	return m[:4] + masked + m[len(m)-4:]
}

// maskSocial keeps the end of a number that could have been issued.
func maskSocial(m string) string {
	if a := m[:3]; a == "000" || a == "666" || a >= "900" || m[4:6] == "00" || m[7:] == "0000" {
		return m
	}
	return masked + m[len(m)-4:]
}
