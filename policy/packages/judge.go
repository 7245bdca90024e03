// Package packages judges versions of packages: whether an agent may install them, must wait
// for a person's approval, or must not install them.
//
// Judge is pure: it uses only the facts and the time that it is given. It decides in this
// order:
//
//   - A version that is listed as malicious is denied. No person can overrule that.
//   - The first of the person's rules that fits decides.
//   - A new package waits if its name could be mistaken for a known one.
//   - A version that is younger than its ecosystem's quarantine waits, because most malicious
//     packages are found in their first days.
package packages

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Facts are what is known about a version.
type Facts struct {
	Ecosystem, Name, Version string
	// Published is when the version was published, or first seen by this machine; zero when
	// that is not known.
	Published time.Time
	// Ageless means that quarantine does not apply: the version comes from the person's own
	// registry, or a signature vouches for it.
	Ageless bool
	// Malicious is the version's entry in the list of malicious packages; empty for none.
	Malicious string
	// Scripts are the known scripts that the version runs when it is installed.
	Scripts []string
	// PublisherChanged means that all earlier versions had another publisher.
	PublisherChanged bool
	// ProvenanceLost means that an earlier version had a proof of where it was built, and this
	// one has none.
	ProvenanceLost bool
	// Confusable is the known name that the name of a new package could be mistaken for;
	// empty for none.
	Confusable string
}

// Rules are the person's rules.
type Rules struct {
	Quarantine map[string]time.Duration // by ecosystem; 0 means none
	List       []Rule
}

// Rule says what happens to the versions that have all of its members.
type Rule struct {
	Ecosystem, Name, Version string // patterns, in which * matches no slash; empty fits all
	YoungerThan              time.Duration
	InstallScript            bool
	PublisherChanged         bool
	ProvenanceLost           bool
	Confusable               bool
	Then                     Then
	// Same reports whether a version is another spelling of one that the Version pattern
	// matches. Nil means that each version has one spelling.
	Same func(ecosystem, version string) bool
}

// Then is what happens to a version.
type Then string

// The outcomes.
const (
	Allow Then = "allow"
	Ask   Then = "ask"
	Deny  Then = "deny"
)

// Verdict is what happens to a version, and why.
type Verdict struct {
	Then Then
	// Rule names what decided: "malicious", "rule 2", "look-alike" or "quarantine"; empty when
	// nothing forbids the version.
	Rule string
	// Text says why, in one line without a final stop.
	Text string
}

// Check returns why a rule cannot be used, or nil.
func (r *Rule) Check() error {
	for _, pattern := range []string{r.Ecosystem, r.Name, r.Version} {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("the pattern %q cannot be read", pattern)
		}
	}
	switch r.Then {
	case Allow, Ask, Deny:
		return nil
	}
	return fmt.Errorf(`"then" is %q; it must be allow, ask or deny`, r.Then)
}

// Judge says what happens to a version.
func (rules *Rules) Judge(f Facts, now time.Time) Verdict {
	if f.Malicious != "" {
		return Verdict{Deny, "malicious", fmt.Sprintf("%s %s is listed as malicious: %s", f.Name, f.Version, f.Malicious)}
	}
	for i := range rules.List {
		if r := &rules.List[i]; r.fits(&f, now) {
			return Verdict{r.Then, fmt.Sprintf("rule %d", i+1), fmt.Sprintf("%s %s falls under rule %d of the person's rules for packages", f.Name, f.Version, i+1)}
		}
	}
	if f.Confusable != "" {
		return Verdict{Ask, "look-alike", fmt.Sprintf("%s is new and could be mistaken for %s, so a person has to approve it", f.Name, f.Confusable)}
	}
	if limit := rules.Quarantine[f.Ecosystem]; f.young(limit, now) {
		return Verdict{Ask, "quarantine", fmt.Sprintf("%s %s is younger than %s, so a person has to approve it", f.Name, f.Version, Age(limit))}
	}
	return Verdict{Then: Allow}
}

// young reports whether a version is younger than a limit. A version of unknown age, or from
// the future, counts as young.
func (f *Facts) young(limit time.Duration, now time.Time) bool {
	return limit > 0 && !f.Ageless && (f.Published.IsZero() || now.Sub(f.Published) < limit)
}

func (r *Rule) fits(f *Facts, now time.Time) bool {
	return matches(r.Ecosystem, f.Ecosystem) && r.fitsName(f.Ecosystem, f.Name) &&
		(matches(r.Version, f.Version) || r.Same != nil && r.Same(f.Ecosystem, f.Version)) &&
		(r.YoungerThan == 0 || f.young(r.YoungerThan, now)) &&
		(!r.InstallScript || len(f.Scripts) > 0) &&
		(!r.PublisherChanged || f.PublisherChanged) &&
		(!r.ProvenanceLost || f.ProvenanceLost) &&
		(!r.Confusable || f.Confusable != "")
}

// fitsName reports whether the Name pattern matches a name, or another spelling of it that the
// ecosystem's registries treat as the same name.
func (r *Rule) fitsName(ecosystem, name string) bool {
	if matches(r.Name, name) {
		return true
	}
	plain := !strings.ContainsAny(r.Name, `[\`) // folding could change a set of letters
	return plain && (ecosystem == "pypi" || ecosystem == "cargo") && matches(text.Fold(r.Name), text.Fold(name))
}

func matches(pattern, s string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, s)
	return ok && err == nil
}

// Age writes a time span as people say it: "3 days", "5 hours", "8 months".
func Age(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{365 * 24 * time.Hour, "year"}, {30 * 24 * time.Hour, "month"}, {24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := int64(d / unit.size); {
		case n == 1:
			return "1 " + unit.name
		case n > 1:
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return "less than a minute"
}
