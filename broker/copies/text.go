package copies

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// Bounds of comparing the text of one file.
const (
	maxText   = 1 << 20
	maxPrint  = 256 << 10
	printTime = 10 * time.Second
)

// Text compares the lines of a file in the directory and in the copy. It returns "" for what is
// no text, and for a file that is too large or that cannot be compared. The agent decides what
// it contains.
func (d Diff) Text(ctx context.Context, c Change) (string, error) {
	if !hasLines(c.there) || !hasLines(c.here) || c.there.kind == c.here.kind && c.here.kind == nothing {
		return "", nil
	}
	dir, err := os.MkdirTemp("", "ironcurtain-compared-")
	if err != nil {
		return "", err
	}
	defer func() { _ = dirtree.Remove(context.WithoutCancel(ctx), dir) }()
	if err := errors.Join(copyText(openOrigin, d.Origin, c.Path, filepath.Join(dir, "a")), copyText(openDirs, d.copy, c.Path, filepath.Join(dir, "b"))); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, printTime)
	defer cancel()
	out, err := gitrun.Quick.Output(limited, maxPrint, gitrun.Command{
		Args: []string{"-C", dir, "diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--", "a", "b"},
	})
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // they differ
	}
	if at := bytes.Index(out, []byte("\n@@ ")); at >= 0 && err == nil {
		return string(out[at+1:]), nil
	}
	return "", err
}

// hasLines reports whether something has lines to be compared, or is not there.
func hasLines(n node) bool {
	return n.kind == nothing || n.kind == file && n.size <= maxText
}

// copyText copies a small file below a directory to a path; an empty one where there is none.
func copyText(open func(string) (*dirs, error), dir, name, to string) error {
	all, err := open(dir)
	if err != nil {
		return err
	}
	defer all.close()
	data, _, err := all.small(name, maxText)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
