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

// Limits for comparing the text of one file.
const (
	maxText   = 1 << 20
	maxPrint  = 256 << 10
	printTime = 10 * time.Second
)

// Text returns a diff of a file between the directory and the copy; "" if it is not text, is too
// large or cannot be compared. The agent chose its contents.
func (d Diff) Text(ctx context.Context, c Change) (string, error) {
	if !hasLines(c.origin) || !hasLines(c.copied) || c.origin.kind == c.copied.kind && c.copied.kind == nothing {
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

// hasLines reports whether a node is a file small enough to be compared, or nothing.
func hasLines(n node) bool {
	return n.kind == nothing || n.kind == file && n.size <= maxText
}

// copyText copies a small file below a directory to a path, as an empty one if there is none.
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
