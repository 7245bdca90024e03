package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// engine is the engine and container of a keeper, for a reach.Stream. Each carrier breaks after a
// while.
type engine struct {
	*kept
	after    int64 // how many bytes
	carriers atomic.Int32
}

func (e *engine) ID() string                                 { return "kept" }
func (e *engine) FollowMemory(ctx context.Context, _ func()) { <-ctx.Done() }

func (e *engine) HangUp(context.Context) error { return nil }

func (e *engine) Remove(context.Context) error { e.stop(); return nil }

func (e *engine) Wait(ctx context.Context) (docker.Exit, error) {
	select {
	case <-e.ended:
		return docker.Exit{Code: e.code}, e.err
	case <-ctx.Done():
		return docker.Exit{}, ctx.Err()
	}
}

func (e *engine) Stream(ctx context.Context, _ string, _ []string, _ string) (net.Conn, error) {
	c, conn := e.handOver(ctx)
	if c == nil {
		return nil, errors.New("the container has ended")
	}
	x := &executed{Conn: conn, carrier: c}
	x.left.Store(e.after * int64(1+e.carriers.Add(1)%3))
	return x, nil
}

// executed is the engine's end of a carrier, which breaks after some bytes.
type executed struct {
	net.Conn // of the program that hands it over
	carrier  *carrier
	left     atomic.Int64
}

func (x *executed) Read(p []byte) (int, error)  { return x.counted(x.carrier.Read(p)) }
func (x *executed) Write(p []byte) (int, error) { return x.counted(x.carrier.Write(p)) }

func (x *executed) counted(n int, err error) (int, error) {
	if x.left.Add(int64(-n)) < 0 {
		_ = x.Close()
	}
	return n, err
}

func (x *executed) Close() error { return errors.Join(x.carrier.Close(), x.Conn.Close()) }

// A container's home is filled before its program starts, and what the program has left is fetched
// after its end, although carriers break all the time.
func TestFilesGoInAndOutOverCuts(t *testing.T) {
	there, here := t.TempDir(), t.TempDir()
	const files = 300
	for i := range files {
		if err := os.WriteFile(filepath.Join(here, fmt.Sprint(i)), []byte(strings.Repeat(fmt.Sprint(i), 10_000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := keepOf(t, `cd '`+there+`' && ls | wc -l; rm 7; echo more >more; exit 4`)
	k.config.Files = treesync.NewServer(map[string]string{"home": there})
	k.run()
	e := &engine{kept: k, after: 300_000}
	tree, err := treesync.Open(treesync.Options{Name: "home", Dir: here})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s := reach.NewStream()
	defer s.Close()
	var client *treesync.Client
	err = s.Begin(t.Context(), e, e, reach.Order{
		User: "1000:1000", Cols: 80, Rows: 24, Tell: func(text string) { t.Log(text) },
		Check: func([]byte) error { return nil },
		Fill: func(ctx context.Context) error {
			conn, err := s.OpenFiles(ctx)
			if err != nil {
				return err
			}
			client = treesync.NewClient(conn)
			_, err = tree.Sync(ctx, client)
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if output, err := io.ReadAll(s); err != nil || strings.TrimSpace(string(output)) != fmt.Sprint(files) {
		t.Errorf("the program shows %q, %v", output, err)
	}
	select {
	case <-k.ended:
		t.Fatal("the container has ended before the host has what it left")
	default:
	}
	if _, err := tree.Sync(t.Context(), client); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(filepath.Join(here, "more")); err != nil || string(content) != "more\n" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := os.Stat(filepath.Join(here, "7")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was removed is still here: %v", err)
	}
	_ = client.Close()
	if exit, err := s.Wait(t.Context()); err != nil || exit.Code != 4 {
		t.Errorf("%+v, %v", exit, err)
	}
	if n := e.carriers.Load(); n < 3 {
		t.Errorf("only %d carriers were used", n)
	}
}

// A container that is only to be filled is filled, and ends when it is removed.
func TestAContainerIsFilledOnly(t *testing.T) {
	there, here := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(here, "pack"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	k := keepOf(t, `touch '`+there+`/began'`)
	k.config.Files = treesync.NewServer(map[string]string{"objects": there})
	k.run()
	e := &engine{kept: k, after: 1 << 20}
	tree, err := treesync.Open(treesync.Options{Name: "objects", Dir: here, OneWay: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s := reach.NewStream()
	err = s.Begin(t.Context(), e, e, reach.Order{
		User: "1000:1000", Cols: 80, Rows: 24, Tell: func(string) {},
		Check: func([]byte) error { return nil },
		Fill: func(ctx context.Context) error {
			conn, err := s.OpenFiles(ctx)
			if err != nil {
				return err
			}
			client := treesync.NewClient(conn)
			defer client.Close()
			if _, err := tree.Sync(ctx, client); err != nil {
				return err
			}
			return reach.ErrFilled
		},
	})
	if !errors.Is(err, reach.ErrFilled) {
		t.Errorf("%v", err)
	}
	if err := s.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	<-k.ended
	if all, err := os.ReadDir(there); err != nil || len(all) != 1 {
		t.Errorf("there are %v, %v", all, err)
	}
}
