package complete

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// hostile is what an agent can have in the arguments of a call.
const hostile = "\x1b]0;x\x07\r\n:4\n_activeHelp_ run this\t$(touch ran) `touch ran` ; touch ran & \u202e\u0301 \xff'\"\\"

// A description is one line of ASCII that is not too long, whatever it says.
func TestDescriptions(t *testing.T) {
	for name, text := range map[string]string{"hostile": hostile, "long": strings.Repeat("x", 1<<20), "long and hostile": strings.Repeat(hostile, 1<<10)} {
		t.Run(name, func(t *testing.T) {
			word, about, _ := strings.Cut(one("w", "of %s", text), "\t")
			if word != "w" || len(about) > mostAbout+3 || strings.ContainsFunc(about, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%d bytes: %.500q", len(about), about)
			}
		})
	}
}

// Shells take a description for text: they run nothing of it, and put nothing of it on the line.
func TestShellsRunNoDescription(t *testing.T) {
	root := &cobra.Command{Use: "ironcurtain-mux"}
	for _, shell := range []struct {
		name   string
		script func(string) error
		ask    string
	}{
		{"bash", func(file string) error { return root.GenBashCompletionFileV2(file, true) }, `
			_init_completion() { cur=${COMP_WORDS[COMP_CWORD]} prev= words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
			__ltrim_colon_completions() { :; }
			compopt() { :; }
			source script
			for COMP_TYPE in 9 63 37; do
				COMP_WORDS=(ironcurtain-mux approve "") COMP_CWORD=2 COMP_LINE="ironcurtain-mux approve " COMP_POINT=24
				__start_ironcurtain-mux
				printf '%s\n' "${COMPREPLY[@]}"
			done`},
		{"fish", func(file string) error { return root.GenFishCompletionFile(file, true) }, `
			source script
			complete -C "ironcurtain-mux approve "`},
	} {
		t.Run(shell.name, func(t *testing.T) {
			dir := t.TempDir()
			program := "#!/bin/sh\ncat " + filepath.Join(dir, "answer") + "\n"
			answer := one("e1", "%s", hostile) + "\n" + one("e2", "%s", "$(touch ran) `touch ran`") + "\n:4\n"
			for name, text := range map[string]string{"ironcurtain-mux": program, "answer": answer} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := shell.script(filepath.Join(dir, "script")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), shell.name, "-c", shell.ask)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir, "COLUMNS=80"}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "e1") || !strings.Contains(string(out), "e2") {
				t.Errorf("%v:\n%q", err, out)
			}
			if strings.ContainsAny(string(out), "\x1b\x07\r") {
				t.Errorf("control characters: %q", out)
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Errorf("the shell has run what the agent wrote:\n%s", out)
			}
		})
	}
}
