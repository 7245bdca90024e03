package outer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Edit shows text in the person's editor: it runs argv with the path of a file that
// holds the text as the last argument. Only the person can read the file. Edit removes
// it, and whatever the editor put next to it, before it returns; if this process is
// killed, the watchdog does. For the errors and the terminal's state see Run.
func (t *Terminal) Edit(ctx context.Context, argv []string, name string, text []byte) (err error) {
	const op = "keep the text for the editor"
	dir, err := os.MkdirTemp("", "ironcurtain-mux-")
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	defer func() {
		if gone := os.RemoveAll(dir); gone != nil {
			err = errors.Join(err, fmt.Errorf("remove the text for the editor: %w", gone))
		}
		_ = t.watchdog.unguardDir() // it fails only if the watchdog has ended, which then removes nothing
	}()
	if err := t.watchdog.guardDir(dir); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return t.Run(ctx, append(append([]string(nil), argv...), file))
}
