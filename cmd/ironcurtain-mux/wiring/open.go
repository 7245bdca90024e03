package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages/learn"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// Time limits for the end, when every session is stopped with its container.
const (
	ShutdownLimit = 60 * time.Second
	SlowEnd       = 4 * time.Second // after this time the person is told why the end takes so long
)

// Open starts the trusted process: its log and the broker. done ends both, with every session,
// and prints what could not be ended.
func (w Parts) Open(cmd *cobra.Command) (b *broker.Broker, log *slog.Logger, done func(), err error) {
	log, logFile, err := openLog(w.Paths)
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := learn.Leftovers(w.Paths.Home, true); err != nil {
		log.Warn("could not remove everything that killed processes left behind", "error", err)
	}
	b, endProfiles, err := w.broker(log)
	if err != nil {
		return nil, nil, nil, errors.Join(err, logFile.Close())
	}
	// After a signal, a SIGKILL may follow soon, even while the sessions are ending.
	stopHurry := context.AfterFunc(cmd.Context(), b.Hurry)
	return b, log, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), ShutdownLimit)
		defer cancel()
		waiting, _ := b.Pending(ctx) // it never fails
		TellUndecided(cmd.ErrOrStderr(), len(waiting))
		slow := time.AfterFunc(SlowEnd, func() { fmt.Fprintln(cmd.ErrOrStderr(), EndIsSlow) })
		err := errors.Join(b.Shutdown(ctx), endProfiles())
		slow.Stop()
		stopHurry()
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "ironcurtain-mux: close: %v (run 'ironcurtain-mux gc')\n", err)
		}
		farewell(cmd.ErrOrStderr(), b)
		_ = logFile.Close()
	}, nil
}

// EndIsSlow is printed after SlowEnd.
const EndIsSlow = "ironcurtain-mux: the sessions are being ended; the container engine takes its time"

// TellUndecided prints how many calls still wait for a decision at the end.
func TellUndecided(w io.Writer, n int) {
	switch n {
	case 0:
	case 1:
		fmt.Fprintln(w, "ironcurtain-mux: 1 call still waited for a decision; it was not carried out")
	default:
		fmt.Fprintf(w, "ironcurtain-mux: %d calls still waited for a decision; they were not carried out\n", n)
	}
}

// openLog opens the program's own log.
func openLog(p Paths) (*slog.Logger, io.Closer, error) {
	const op = "open log"
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return nil, nil, cli.Fail(op, err, "make the directory writable or set IRONCURTAIN_HOME")
	}
	if err := rotateLog(p.LogFile()); err != nil {
		return nil, nil, cli.Fail(op, err, "make the directory writable or set IRONCURTAIN_HOME")
	}
	f, err := os.OpenFile(p.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, cli.Fail(op, err, "make the file writable or set IRONCURTAIN_HOME")
	}
	// A crash would print to the alternate screen, which disappears a moment later.
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		return nil, nil, errors.Join(cli.Fail(op, err, ""), f.Close())
	}
	return slog.New(slog.NewJSONHandler(cli.ASCIIWriter{To: f}, nil)), f, nil
}

// largestLog is the size in bytes at which a log is renamed and a new one begun.
const largestLog = 8 << 20

// rotateLog renames a log that has grown too large, and replaces the log that was renamed
// before. A multiplexer that still writes to the renamed log continues to do so.
func rotateLog(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || info.Size() < largestLog:
		return err
	}
	return os.Rename(path, path+".1")
}
