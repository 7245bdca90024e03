package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// clipboards are the programs that print a picture in the clipboard as PNG. They are tried in this
// order.
var clipboards = [][]string{
	{"wl-paste", "--type", "image/png"},
	{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"},
	{"pngpaste", "-"},
}

// clipboardTime is how long one of these programs may take. The program that owns the clipboard may
// never answer.
const clipboardTime = 5 * time.Second

// pngMagic begins every PNG file.
const pngMagic = "\x89PNG\r\n\x1a\n"

// Picture returns the picture in the host's clipboard as PNG.
func Picture(ctx context.Context) ([]byte, error) {
	var tried, names []string
	for _, argv := range clipboards {
		names = append(names, argv[0])
		path, err := exec.LookPath(argv[0])
		if err != nil {
			continue
		}
		data, err := printed(ctx, path, argv[1:])
		if err == nil && bytes.HasPrefix(data, []byte(pngMagic)) {
			return data, nil
		}
		if err == nil {
			err = errors.New("it printed no picture")
		}
		tried = append(tried, fmt.Sprintf("%s: %v", argv[0], err))
	}
	if len(tried) == 0 {
		return nil, fault.New("install the one for your desktop, or name a file", "no program is installed that reads the clipboard: %s", strings.Join(names, ", "))
	}
	return nil, fault.New("copy a picture first, or name a file", "the clipboard has no picture (%s)", strings.Join(tried, "; "))
}

// printed returns a program's output, up to the size of one attachment.
func printed(ctx context.Context, path string, args []string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, clipboardTime, fmt.Errorf("no answer within %v", clipboardTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	data, readErr := io.ReadAll(io.LimitReader(out, maxFile+1))
	if len(data) > maxFile {
		readErr = fmt.Errorf("the picture is larger than %d MiB", maxFile>>20)
		cancel()
	}
	err = cmd.Wait()
	if readErr != nil {
		return nil, readErr
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return data, err
}
