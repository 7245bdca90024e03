package packages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	rules "github.com/ironcurtain-mux/ironcurtain-mux/policy/packages"
)

// asked is one package in the arguments of a question.
type asked struct {
	Ecosystem string    `json:"ecosystem"`
	Name      string    `json:"name"`
	Version   string    `json:"version"`
	Registry  string    `json:"registry"`
	SHA256    string    `json:"sha256"`
	Bytes     int64     `json:"bytes"`
	Published time.Time `json:"published,omitzero"`
}

// question makes one question about all packages of a wave.
func (s *Session) question(wave []judged) (approval.Escalation, error) {
	slices.SortFunc(wave, func(a, b judged) int {
		return cmp.Or(strings.Compare(a.facts.Ecosystem, b.facts.Ecosystem), strings.Compare(a.facts.Name, b.facts.Name), strings.Compare(a.facts.Version, b.facts.Version), strings.Compare(a.Sum, b.Sum))
	})
	var list []asked
	effect := &preview.Effect{Kind: preview.Install, Summary: summary(wave)}
	for i := range wave {
		j := &wave[i]
		list = append(list, asked{
			Ecosystem: j.facts.Ecosystem, Name: j.facts.Name, Version: j.facts.Version,
			Registry: j.Origin.URL.String(), SHA256: j.Sum, Bytes: j.Size, Published: j.facts.Published,
		})
		effect.Lines = append(effect.Lines, s.describe(j)...)
	}
	arguments, err := json.Marshal(map[string]any{"packages": list})
	if err != nil {
		return approval.Escalation{}, fmt.Errorf("ask about packages: %w", err)
	}
	sum := sha256.Sum256(append([]byte(s.options.ID+"\x00install\x00"), arguments...))
	effect.Fingerprint = hex.EncodeToString(sum[:])
	return approval.Escalation{
		Session: s.options.ID, Plane: audit.PlanePackage, Server: ecosystemsOf(wave), Tool: "install", Arguments: arguments,
		Rule: wave[0].verdict.Rule, Reason: wave[0].verdict.Text, Digest: effect.Fingerprint, Effect: effect, Timeout: s.options.Timeout,
	}, nil
}

func ecosystemsOf(wave []judged) string {
	var all []string
	for i := range wave {
		if e := wave[i].facts.Ecosystem; !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return strings.Join(all, ", ")
}

// summary says in one line why packages wait.
func summary(wave []judged) string {
	if len(wave) == 1 {
		return wave[0].verdict.Text
	}
	young := 0
	for i := range wave {
		if wave[i].verdict.Rule == "quarantine" {
			young++
		}
	}
	if young == len(wave) {
		return fmt.Sprintf("%d packages are so young that they need your approval", young)
	}
	return fmt.Sprintf("%d packages wait for you", len(wave))
}

// longestLine bounds a text from a registry, an archive or a lockfile in one line of a question, in
// bytes.
const longestLine = 2000

// longestSaid bounds what an agent says about a package, in bytes.
const longestSaid = 500

// unknown stands for something that a registry does not say.
const unknown = "unknown"

// describe lists what a person needs to know to decide about one package.
func (s *Session) describe(j *judged) []preview.Line {
	age := "age unknown"
	if !j.facts.Published.IsZero() {
		age = "published " + rules.Age(time.Since(j.facts.Published)) + " ago"
		if j.Version.Published.IsZero() || j.facts.Ecosystem == "go" { // of a Go module only its first sight is known
			age = "first seen here " + rules.Age(time.Since(j.facts.Published)) + " ago"
		}
	}
	if older := j.earlier.version; older != nil && j.verdict.Then != rules.Allow {
		age += fmt.Sprintf("; %s (%s) is the newest old enough", older.Version, rules.Age(time.Since(older.Published)))
	}
	lines := []preview.Line{{Kind: preview.Item, Text: fmt.Sprintf("%s %s@%s, %s", j.facts.Ecosystem, j.facts.Name, j.facts.Version, age)}}
	note := func(name, said string) {
		lines = append(lines, preview.Line{Kind: preview.Note, Text: name + ": " + text.Clip(said, longestLine)})
	}
	warn := func(name, said string) {
		lines = append(lines, preview.Line{Kind: preview.Warning, Text: name + ": " + text.Clip(said, longestLine)})
	}
	if by := s.names.neededBy(j.facts.Ecosystem, j.facts.Name); by != "" {
		note("needed by", by)
	}
	if file := s.pins[versionKey(j.facts.Ecosystem, j.facts.Name, j.facts.Version)]; file != "" {
		note("pinned", "in "+file)
	}
	publisher := unknown
	if by := j.Version.Publisher; by != "" {
		publisher = `"` + text.Clip(by, longestName) + `"` // the text outside the quotes is ours
	}
	other, lost := changed(j.Facts, j.Version)
	if other {
		warn("publisher", publisher+"; all earlier versions are by others")
	} else {
		note("publisher", publisher)
	}
	if lost {
		warn("provenance", provenanceOf(j.Version)+", before: yes")
	} else {
		note("provenance", provenanceOf(j.Version))
	}
	if len(j.facts.Scripts) > 0 {
		warn("at install", j.scripts())
	} else {
		note("at install", "runs nothing")
	}
	note("size", j.sizes())
	digest := "none listed"
	if len(j.File.Digests) > 0 {
		digest = j.File.Digests[0].String() + " = registry = downloaded bytes"
	}
	if j.File.Weak {
		warn("integrity", digest+", which is weak")
	} else {
		note("integrity", digest)
	}
	if j.facts.Confusable != "" {
		warn("name", "could be mistaken for "+j.facts.Confusable)
	}
	if j.Justification != "" { // last, so that a long one hides nothing
		note("the agent says", `"`+text.OneLine(j.Justification, longestSaid)+`"`)
	}
	return lines
}

// provenanceOf says whether a registry has a proof of where a version was built.
func provenanceOf(v *registry.Version) string {
	switch v.Provenance {
	case registry.Yes:
		return "yes"
	case registry.No:
		return "none"
	default:
		return unknown
	}
}
