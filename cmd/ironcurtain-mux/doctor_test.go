package main

import (
	"strings"
	"testing"
)

// A program that is missing is named with the package that brings it.
func TestMissingProgramsNameTheirPackages(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	found := checkPrograms("tool servers run in a sandbox", "bwrap", "socat", "rg")
	if found.Status != "fail" || found.Detail != "not installed: bwrap, socat, rg" || !strings.Contains(found.Remedy, "apt-get install -y bubblewrap socat ripgrep'") {
		t.Errorf("found %+v", found)
	}
}
