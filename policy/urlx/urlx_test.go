package urlx

import (
	"net/url"
	"testing"
)

func TestParse(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.com":                   "https://example.com",
		"https://example.com/":                  "https://example.com",
		"HTTP://Example.COM:80/A/":              "http://example.com/A/",
		"https://example.com.:443":              "https://example.com",
		"https://example.com:8443/a#frag":       "https://example.com:8443/a",
		"https://example.com?q=1":               "https://example.com/?q=1",
		"https://example.com/?q=a'b\"c":         "https://example.com/?q=a%27b%22c",
		"https://example.com/a/%2e%2E/b/./c/..": "https://example.com/b/",
		"https://example.com/a//b":              "https://example.com/a//b",
		"https://example.com/%C3%BC%2F":         "https://example.com/%C3%BC%2F",
		"https://example.com/ü":                 "https://example.com/%C3%BC",
		"https://BÜCHER.example/":               "https://xn--bcher-kva.example",
		"https://1.1.1.1/x":                     "https://1.1.1.1/x",
		"https://[2606:4700:0:0::1111]/":        "https://[2606:4700::1111]",
		"https://[::ffff:1.2.3.4]/":             "https://1.2.3.4",
		"https://a_b.example.com/":              "https://a_b.example.com",
		"https://example.com/?":                 "https://example.com",
		"https://127.0.0.1/":                    "https://127.0.0.1", // judged by patterns, which never include it unnamed

		"": "", "https://": "", "https:example.com": "", "//example.com": "", "ftp://example.com": "", "file:///x": "",
		"https://u@example.com": "", "https://u:p@example.com": "", "https://@example.com": "", "https://example.com@evil.org": "",
		"https://0x7f.1": "", "https://2130706433": "", "https://0177.0.0.1": "", "https://127.1": "", "https://1.2.3.4.": "https://1.2.3.4",
		"https://1.2.3.4.5": "", "https://0x7f000001": "", "https://example.0x1": "", "https://①.②.③.④": "", "https://[fe80::1%25en0]": "",
		"https://[1.2.3.4]": "", "https://example..com": "", "https://-a.com": "", "https://a-.com": "", "https://.com": "", "https://a.com..": "",
		"https://example.com:": "", "https://example.com:0": "", "https://example.com:65536": "", "https://example.com:08": "", "https://example.com:+1": "",
		"https://exa mple.com": "", "https://example.com/a b": "", "https://example.com\\a": "", "https://example.com/\n": "", "https://exa\u00admple.com": "",
		"https://example.com%00": "", "https://%be": "", "https://a%ddb.com": "", "https://\xbe.com": "", "https://example%2ecom": "", "https://example.com／a": "", "https://xn--zzzzz--": "", "https://xn--a.example.com": "", "https://a.XN--A.example.com": "", "https://a\u200d.com": "",
	} {
		t.Run(raw, func(t *testing.T) {
			u, err := Parse(raw)
			if got := u.String(); got != want || (err == nil) != (want != "") {
				t.Errorf("%q: %q %v, want %q", raw, got, err, want)
			}
		})
	}
}

func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, url string
		want         bool
	}{
		{"*", "https://example.com", true},
		{"*", "https://user.github.io", true},
		{"*", "https://localhost", false},
		{"*", "https://intranet", false},
		{"*", "https://metadata.google.internal", false},
		{"*", "https://1.1.1.1", false},
		{"*", "https://x.onion", true}, // listed, and no resolver of a private network answers for it
		{"*", "https://printer.lan", false},
		{"*", "https://router.home.arpa", false},
		{"*", "https://1.0.0.127.in-addr.arpa", false},
		{"example.com", "https://EXAMPLE.com", true},
		{"Example.com", "https://example.com", true},
		{"example.com", "http://example.com", false},
		{"http://example.com", "http://example.com", true},
		{"https://example.com", "http://example.com", false},
		{"example.com:8443", "https://example.com:8443", true},
		{"example.com:8443", "http://example.com:8443", false},
		{"example.com", "https://example.com:8443", false},
		{"*.example.com", "https://a.b.example.com", true},
		{"*.example.com", "https://example.com", true},
		{"*.example.com", "https://badexample.com", false},
		{"1.1.1.1", "https://1.1.1.1", true},
		{"[2606:4700::1111]", "https://[2606:4700::1111]", true},
		{"2606:4700::1111", "https://[2606:4700::1111]", true},
	} {
		t.Run(tc.pattern, func(t *testing.T) {
			p, err := ParsePattern(tc.pattern)
			if err != nil {
				t.Errorf("%s: %v", tc.pattern, err)
				return
			}
			u, err := Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Match(u.Target(), false); got != tc.want {
				t.Errorf("%s matches %s: %v", tc.pattern, tc.url, got)
			}
		})
	}
	for _, bad := range []string{"", "*.com", "*.co.uk", "*.1.1.1.1", "a b", "ftp://x.com", "x.com:0", "x.com:y", "*/x", "*.", "**", "a.*.com", "@list"} {
		t.Run(bad, func(t *testing.T) {
			if _, err := ParsePattern(bad); err == nil {
				t.Errorf("pattern %q is accepted", bad)
			}
		})
	}
}

func TestPatternPaths(t *testing.T) {
	p, err := ParsePattern("github.com/Acme/Widget.git")
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Scheme: "ssh", Host: "github.com", Port: 22, Path: "acme/widget"}
	if !p.Match(target, false) {
		t.Error("the same repository does not match")
	}
	target.Path = "acme/widget2"
	if p.Match(target, false) {
		t.Error("another repository matches")
	}
	for pattern, want := range map[string]bool{"git.example.com/acme/widget": true, "git.example.com/acme/widget.git/": true, "git.example.com/Acme/widget": false} {
		if p, err = ParsePattern(pattern); err != nil {
			t.Fatal(err)
		}
		if got := p.Match(Target{Scheme: "https", Host: "git.example.com", Port: 443, Path: "acme/widget"}, false); got != want {
			t.Errorf("%s matches: %v, want %v", pattern, got, want)
		}
	}
}

// A pattern that holds back is not got round by another spelling of its path.
func TestPatternPathsOfRulesThatHoldBack(t *testing.T) {
	p, err := ParsePattern("git.example.com/Acme/Widget")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"Acme/Widget": true, "acme/widget": true, "": true, "Acme//Widget": true, "Acme/Wid%67et": true, "~/Acme/Widget": true,
		"Acme/Widget.git": true, "Acme/Widget.": true, "Acme/Other": false, "other/acme/widget": false, ".github/x": false,
	} {
		t.Run(path, func(t *testing.T) {
			target := Target{Scheme: "https", Host: "git.example.com", Port: 443, Path: path}
			if got := p.Match(target, true); got != want {
				t.Errorf("%q: %v, want %v", path, got, want)
			}
			if path != "Acme/Widget" && p.Match(target, false) {
				t.Errorf("%q is allowed", path)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"https://example.com/a?b#c", "http://[::1]:80/", "https://bücher.de/ü?ü", "https://a/../%2e", "HTTPS://A.:443/?", "https://1.2.3.4",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Parse(u.String())
		if err != nil || again != u {
			t.Fatalf("%q is %q, again %q (%v)", raw, u, again, err)
		}
		std, err := url.Parse(u.String())
		if err != nil || std.User != nil || std.Scheme != u.Scheme {
			t.Fatalf("%q is %q, which others read as %+v (%v)", raw, u, std, err)
		}
		if std.Hostname() != u.Host {
			t.Fatalf("%q has host %q, others read %q", raw, u.Host, std.Hostname())
		}
		for i := 0; i < len(u.String()); i++ {
			if c := u.String()[i]; c <= 0x20 || c >= 0x7f {
				t.Fatalf("%q is spelled %q", raw, u)
			}
		}
	})
}

// Which patterns a policy that was made by others may allow.
func TestPatternKinds(t *testing.T) {
	for s, want := range map[string][3]bool{ // everywhere, public, a whole suffix
		"*": {true, false, false}, "https://*": {true, false, false}, "go.dev": {false, true, false}, "*.go.dev": {false, true, false},
		"com": {false, false, true}, "co.uk": {false, true, true}, "localhost": {false, false, true}, "10.0.0.1": {false, false, false},
		"printer.local": {false, false, false}, "[::1]": {false, false, true}, "github.io": {false, true, true}, "*.vercel.app": {false, true, true}, "octocat.github.io": {false, true, false}, "*.octocat.github.io": {false, true, false},
		"*.amazonaws.com": {false, true, false}, "raw.githubusercontent.com": {false, true, false},
	} {
		t.Run(s, func(t *testing.T) {
			p, err := ParsePattern(s)
			if got := [3]bool{p.Everywhere(), p.Public(), p.CoversSuffix()}; err != nil || got != want {
				t.Errorf("%s: %v, %v", s, got, err)
			}
		})
	}
}
