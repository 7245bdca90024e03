package learn

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAptNamesRepositories(t *testing.T) {
	w := newTools(t)
	trusted := filepath.Join(w.home, "etc/apt/trusted.gpg.d")
	if err := os.MkdirAll(trusted, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(trusted, "debian.asc"), "")
	write(t, filepath.Join(trusted, "notes.txt"), "")
	h := w.host()
	h.Apt = func(context.Context) []string {
		return []string{
			"deb http://deb.example/debian trixie main",
			"deb http://deb.example/debian/ trixie-updates main  contrib",
			"deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg,/etc/apt/keyrings/b.asc] https://signed.example/apt/ ./",
			"deb cdrom:[x]/ trixie main",
		}
	}
	got, err := Learn(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	want := []Source{
		{Ecosystem: Apt, URL: "http://deb.example/debian/", From: "apt-get indextargets", Suites: []string{"trixie main", "trixie-updates main contrib"}, Keys: []string{filepath.Join(trusted, "debian.asc")}},
		{Ecosystem: Apt, URL: "https://signed.example/apt/", From: "apt-get indextargets", Suites: []string{"./"}, Keys: []string{"/usr/share/keyrings/a.gpg", "/etc/apt/keyrings/b.asc"}},
	}
	if diff := cmp.Diff(want, got.Sources); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"apt-get indextargets: not a complete address"}, got.Notes); diff != "" {
		t.Error(diff)
	}
	if err := check(got.Sources); err != nil {
		t.Error(err)
	}
}
