package bridge

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Mounts are compared with their description, unless the engine has other inode numbers.
func TestCheckMounts(t *testing.T) {
	dir := t.TempDir()
	mount := func(name string) Mount {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		var is syscall.Stat_t
		if err := syscall.Lstat(path, &is); err != nil {
			t.Fatal(err)
		}
		return Mount{Path: path, Device: uint64(is.Dev), Inode: is.Ino} //nolint:unconvert // its type differs between systems
	}
	reference, odd, other := mount("reference"), mount("a \"name\"\nof two lines"), mount("other")
	at := func(path string, m Mount) Mount { m.Path = path; return m }
	for name, tt := range map[string]struct {
		description, want string
	}{
		"nothing to compare":   {"", ""},
		"as it should be":      {DescribeMounts([]Mount{reference, odd, other}), ""},
		"exchanged":            {DescribeMounts([]Mount{reference, odd, at(other.Path, odd)}), other.Path + " is not what was to be mounted there"},
		"gone":                 {DescribeMounts([]Mount{reference, at(filepath.Join(dir, "none"), odd)}), "none: no such file"},
		"in a virtual machine": {DescribeMounts([]Mount{at(reference.Path, odd), at(other.Path, odd)}), ""},
		"no numbers":           {"x y z\n", "is malformed"},
		"no path":              {"1 2\n", "is malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckMounts(tt.description)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestTakeMounts(t *testing.T) {
	t.Setenv(MountsVariable, "what the agent does not get")
	if got := TakeMounts(); got != "what the agent does not get" || os.Getenv(MountsVariable) != "" {
		t.Errorf("took %q and left %q", got, os.Getenv(MountsVariable))
	}
}
