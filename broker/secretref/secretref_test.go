package secretref

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-a-secret-4711"

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("SECRETREF_TEST", secret+"\n")
	for name, test := range map[string]struct {
		ref  Reference
		fail string // the error; empty: the secret is found
	}{
		"command":         {Reference{Command: []string{"echo", secret}}, ""},
		"variable":        {Reference{Env: "SECRETREF_TEST"}, ""},
		"file":            {Reference{File: write("key", secret+"\n")}, ""},
		"failed command":  {Reference{Command: []string{"sh", "-c", "echo " + secret + "; echo " + secret + " >&2; exit 3"}}, `command "sh": exit status 3`},
		"no command":      {Reference{Command: []string{"no-such-program"}}, `command "no-such-program": executable file not found`},
		"silent command":  {Reference{Command: []string{"true"}}, `command "true": the secret is empty`},
		"no variable":     {Reference{Env: "SECRETREF_NONE"}, "variable SECRETREF_NONE: the secret is empty"},
		"no file":         {Reference{File: dir + "/none"}, "none\": no such file"},
		"directory":       {Reference{File: dir}, "not a regular file"},
		"several lines":   {Reference{File: write("lines", secret+"\n"+secret)}, "not a single line"},
		"endless":         {Reference{Command: []string{"sh", "-c", "yes " + secret + " | head -c 200000"}}, "longer than 65536 bytes"},
		"of the terminal": {Reference{Command: []string{"sh", "-c", ": </dev/tty"}}, "exit status"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.ref.Resolve(t.Context())
			if test.fail == "" && (err != nil || got != secret) {
				t.Errorf("%q, %v", got, err)
			}
			if test.fail != "" && (err == nil || got != "" || !strings.Contains(err.Error(), test.fail) || strings.Contains(err.Error(), secret)) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A command that does not end is ended with what it has started.
func TestACommandHasATime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := Reference{Command: []string{"sh", "-c", "sleep 600 & sleep 600"}}.Resolve(ctx)
	if err == nil || time.Since(began) > commandTime {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
