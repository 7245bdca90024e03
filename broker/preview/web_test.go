package preview

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/idna"
)

func TestLookAlikes(t *testing.T) {
	for _, c := range []struct{ host, want string }{
		{"github.com", ""},
		{"api.github.com", ""},
		{"example.org", ""},
		{"bücher.example", "punycode"},
		{"gіthub.com", "looks like github.com"},       // Cyrillic і
		{"аррӏе.com", "looks like apple.com"},         // all Cyrillic
		{"gooġle.com", "looks like google.com"},       // a dot
		{"githսb.com", "mixes Armenian and Latin"},    // Armenian ս
		{"githud.com", "one letter away from github"}, //
		{"gihtub.com", "one letter away from github"}, //
		{"githubb.com", "one letter away"},
		{"g1thub.com", "looks like github.com"},
		{"rnicrosoft.com", "looks like microsoft.com"},
		{"github.com.evil.example", "belongs to evil.example"},
		{"login-github.example", "has the name of github.com in it"},
		{"github.evil.example", "has the name of github.com in it"},
		{"192.0.2.7", ""},
		{"日本語.jp", "punycode"},
	} {
		t.Run(c.host, func(t *testing.T) {
			host, err := idna.Lookup.ToASCII(c.host)
			if err != nil {
				t.Fatal(c.host, err)
			}
			got := strings.Join(LookAlike(host, KnownHosts), "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.host, got, c.want)
			}
		})
	}
	if got := LookAlike("xn--bücher-999999", KnownHosts); len(got) == 0 {
		t.Error("malformed punycode is not told")
	}
}

// What is said does not depend on the order of the known hosts.
func TestLookAlikesAreSorted(t *testing.T) {
	known := []string{"npmjs.com", "github.com", "npmjs.org", "go.dev"}
	reversed := slices.Clone(known)
	slices.Reverse(reversed)
	for host, count := range map[string]int{"githսb.github.com": 3, "docs.npmjs.org": 0, "github.com.go.dev": 1, "npmjs-github.example": 3} {
		t.Run(host, func(t *testing.T) {
			ascii, err := idna.Lookup.ToASCII(host)
			if err != nil {
				t.Fatal(err)
			}
			got := LookAlike(ascii, known)
			if len(got) != count || !slices.IsSorted(got) || !slices.Equal(got, LookAlike(ascii, reversed)) {
				t.Errorf("%q", got)
			}
		})
	}
}

// No site that is known warns of another that is known.
func TestKnownHostsAreQuiet(t *testing.T) {
	for _, h := range append(KnownHosts, "www.google.com", "raw.githubusercontent.com", "meta.stackexchange.com", "pkg.go.dev", "news.ycombinator.com") {
		if got := LookAlike(h, KnownHosts); len(got) != 0 {
			t.Errorf("%s: %q", h, got)
		}
	}
}

func TestWebEffect(t *testing.T) {
	e := effectOf(t, "fetch", "http_fetch", map[string]any{"url": "http://docs.example.co.uk:8080/a?q=" + strings.Repeat("x", 200)})
	wantLines(t, e, "belongs to example.co.uk", "not encrypted", "unusual port: 8080", "path: /a?q=xxx", "sends 202 bytes to the host")
	if e := effectOf(t, "fetch", "http_fetch", map[string]any{"url": "https://example.org/"}); len(e.Warnings()) != 0 {
		t.Errorf("%q", e.Warnings())
	}
}
