package main

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
)

// The last message of a daemon contains commands with paths, which must still be those paths when a
// person copies them. What could deceive is escaped.
func TestLastMessageKeepsPaths(t *testing.T) {
	var printed bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&printed)
	end := "1 commit on branch b (git -C '/src/prö jekt' merge b)\na\u202eb\n"
	if err := reportEnd(cmd, "stop", end, nil); err != nil {
		t.Fatal(err)
	}
	if want := "1 commit on branch b (git -C '/src/prö jekt' merge b)\na\\u{202e}b\n"; printed.String() != want {
		t.Errorf("printed %q, want %q", printed.String(), want)
	}
}
