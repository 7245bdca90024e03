package learn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const aptPrinted = `==> /etc/apt/sources.list
# deb http://commented.example/ x main
deb	http://deb.example/debian trixie main # more
deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg,/etc/apt/keyrings/b.asc] https://signed.example/apt/ ./
deb-src http://source.example/debian trixie main
deb cdrom:[x]/ trixie main
deb file:/srv/mirror trixie main
deb

==> /etc/apt/sources.list.d/a.sources
Types: deb deb-src
URIs: http://deb.example/debian/ https://second.example/debian
# a comment
Suites: trixie
 trixie-updates
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
URIs: http://off.example/
Enabled: no

types: deb
uris:
 http://folded.example/
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 /not/a/path

Types: deb-src
URIs: http://source.example/

==> /etc/apt/sources.list.d/old.save
deb http://saved.example/ x main
`

func TestAptSources(t *testing.T) {
	want := []Source{
		{Ecosystem: Apt, URL: "http://deb.example/debian/", From: "/etc/apt/sources.list", Keys: []string{"/usr/share/keyrings/debian.gpg"}},
		{Ecosystem: Apt, URL: "https://signed.example/apt/", From: "/etc/apt/sources.list", Keys: []string{"/usr/share/keyrings/a.gpg", "/etc/apt/keyrings/b.asc"}},
		{Ecosystem: Apt, URL: "https://second.example/debian/", From: "/etc/apt/sources.list.d/a.sources", Keys: []string{"/usr/share/keyrings/debian.gpg"}},
		{Ecosystem: Apt, URL: "http://folded.example/", From: "/etc/apt/sources.list.d/a.sources"},
	}
	if diff := cmp.Diff(want, AptSources(aptPrinted)); diff != "" {
		t.Error(diff)
	}
}

func FuzzAptSources(f *testing.F) {
	f.Add(aptPrinted)
	f.Fuzz(func(t *testing.T, printed string) {
		if err := check(AptSources(printed)); err != nil {
			t.Error(err)
		}
	})
}
