package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
)

// handedOver is what the daemon hands over to its next program in an upgrade, besides the panes.
type handedOver struct {
	Version string // of the former program
	ByHand  bool   // a person has started the daemon
	Broker  broker.Kept
	// Arrangements are those of all views, which have ended for the upgrade at the latest.
	Arrangements []arranged
}

// upgradeOf returns how a daemon becomes the program that is installed now. more are further
// arguments of that program.
func upgradeOf(door *daemon.Door, b *broker.Broker, mux *pane.Mux, kept *arrangements, byHand bool, more []string) (*daemon.Upgrade, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, cli.Fail("start daemon", err, "")
	}
	return &daemon.Upgrade{
		Door: door, Program: program,
		Argv: func(i daemon.Inherited) []string {
			return append([]string{program, "serve", "--" + inheritFlag, i.String()}, more...)
		},
		Check: func(ctx context.Context) error { return checkProgram(ctx, program) },
		Calm:  b.Calm,
		Save: func(ctx context.Context, to *os.File) ([]syscall.RawConn, func(*os.File) error, error) {
			return handOver(ctx, to, b, mux, handedOver{Version: cli.ThisBuild().Version, ByHand: byHand, Arrangements: kept.all()})
		},
	}, nil
}

// handOver writes the size of the panes in bytes, the panes, and h with the broker's state as JSON.
// It closes the panes; undo opens them again.
func handOver(ctx context.Context, to *os.File, b *broker.Broker, mux *pane.Mux, h handedOver) (conns []syscall.RawConn, undo func(*os.File) error, err error) {
	var size [8]byte
	if _, err := to.Write(size[:]); err != nil {
		return nil, nil, err
	}
	if err := mux.Save(ctx, to); err != nil {
		mux.Close() // views make new panes
		return nil, nil, err
	}
	end, err := to.Seek(0, io.SeekCurrent)
	if err == nil {
		binary.LittleEndian.PutUint64(size[:], uint64(end)-uint64(len(size)))
		_, err = to.WriteAt(size[:], 0)
	}
	back := func() {}
	if err == nil {
		h.Broker, conns, back, err = b.HandOver()
	}
	if err == nil {
		err = json.NewEncoder(to).Encode(h)
	}
	return conns, func(from *os.File) error {
		if back != nil {
			back()
		}
		_, err := readPanes(from, mux)
		mux.Connect(b)
		return err
	}, err
}

// readPanes loads the panes that handOver has written, and returns what follows them.
func readPanes(from io.Reader, mux *pane.Mux) (rest io.Reader, err error) {
	var size [8]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > 1<<40 {
		return nil, errors.New("the size of the panes is invalid")
	}
	return from, mux.Load(io.LimitReader(from, int64(n)))
}

// continueFrom continues with what the former program of this process has handed over. If that
// cannot be read, it takes the agents back as after a crash. It returns notices for the person.
func continueFrom(ctx context.Context, from io.ReadCloser, b *broker.Broker, mux *pane.Mux, log *slog.Logger) (h handedOver, notices []string) {
	err := errors.New("it cannot be read")
	if from != nil {
		err = h.read(from, mux)
		err = errors.Join(err, from.Close())
	}
	if err == nil {
		if err := b.TakeOver(ctx, h.Broker); err != nil {
			log.Error("not every session could be continued", "error", err)
			notices = append(notices, fmt.Sprintf("not every tab could be continued: %v", err))
		}
		mux.Connect(b)
		b.Sweep()
		return h, notices
	}
	log.Error("what the former program handed over cannot be used", "error", err)
	mux.Close() // a part may have been loaded
	b.Sweep()
	ctx, cancel := context.WithTimeout(ctx, takeBackLimit)
	defer cancel()
	if err := b.TakeBack(ctx); err != nil {
		log.Error("not every agent could be taken back", "error", err)
	}
	return h, append(notices, "the screens from before the upgrade cannot be read: the agents were taken back as after a crash")
}

func (h *handedOver) read(from io.Reader, mux *pane.Mux) error {
	rest, err := readPanes(from, mux)
	if err != nil {
		return err
	}
	return fault.Wrap("read what was handed over", json.NewDecoder(rest).Decode(h), "")
}

// reap waits for children of the former program that have ended, so that no zombies stay.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
