package outer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Edit shows text in a program of the person's: argv with the name of a file
// behind it that holds the text. The file is the person's alone and is gone
// when Edit returns, with all that the program may have put beside it; when this
// process is killed, the watchdog removes it. Errors and the terminal are as with
// Run.
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
		_ = t.watchdog.release() // a watchdog that is gone removes nothing
	}()
	if err := t.watchdog.guard(dir); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return t.Run(ctx, append(append([]string(nil), argv...), file))
}
