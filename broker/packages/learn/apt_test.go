package learn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAptSources(t *testing.T) {
	got := AptSources(`http://deb.example/debian/ /usr/share/keyrings/a.gpg
http://deb.example/debian/ /usr/share/keyrings/a.gpg,/etc/apt/keyrings/b.asc
https://security.example/debian $(SIGNED_BY)
http://pgp.example/ -----BEGIN PGP
 PUBLIC KEY
file:/srv/mirror /x.gpg

cdrom:[x]/ y
`)
	want := []Source{
		{Ecosystem: Apt, URL: "http://deb.example/debian/", From: "apt-get indextargets", Keys: []string{"/usr/share/keyrings/a.gpg", "/etc/apt/keyrings/b.asc"}},
		{Ecosystem: Apt, URL: "https://security.example/debian/", From: "apt-get indextargets"},
		{Ecosystem: Apt, URL: "http://pgp.example/", From: "apt-get indextargets"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzAptSources(f *testing.F) {
	f.Add("http://deb.example/debian/ /usr/share/keyrings/a.gpg\n")
	f.Fuzz(func(t *testing.T, printed string) {
		if err := check(AptSources(printed)); err != nil {
			t.Error(err)
		}
	})
}
