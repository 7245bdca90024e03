package docker

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestTerminalSizeAtStart(t *testing.T) {
	c := connect(t)
	for _, size := range [][2]int{{120, 40}, {1, 1}, {1000, 1000}, {0, 0}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			ct := start(t, c, func(s *Spec) { s.Cols, s.Rows = size[0], size[1] }, "stty", "size")
			want := fmt.Sprintf("%d %d", size[1], size[0])
			if size[0] == 0 {
				want = "24 80"
			}
			if got := strings.TrimSpace(readAll(t, ct)); got != want {
				t.Errorf("the first look at the size says %q, want %q", got, want)
			}
		})
	}
}

func TestResize(t *testing.T) {
	c := connect(t)
	ct := start(t, c, nil, "bash", "-c", `stty -echo; echo ready; while read -rsn1 k; do stty size; done`)
	in := bufio.NewReader(ct)
	readUntil(t, in, "ready\r\n")
	ctx := deadline(t, patience)
	times := 500
	if onPodman { // it answers at once, and takes its time
		times = 20
	}
	for i := range times {
		if err := ct.Resize(ctx, 80+i%50, 20+i%10); err != nil {
			t.Fatal(err)
		}
	}
	if err := ct.Resize(ctx, 133, 44); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := ct.Write([]byte("k")); err != nil {
			t.Fatal(err)
		}
		size, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if size == "44 133\r\n" {
			break
		}
		if !onPodman || ctx.Err() != nil {
			t.Fatalf("the size is %q", size)
		}
		// On a busy machine Podman can lose the last of many sizes that come at once, but no single one.
		if err := ct.Resize(ctx, 133, 44); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range [][2]int{{0, 10}, {10, -1}, {65536, 1}} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			if err := ct.Resize(ctx, bad[0], bad[1]); !errors.Is(err, ErrSpec) {
				t.Errorf("size %v: %v", bad, err)
			}
		})
	}
	if err := ct.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	if err := ct.Resize(ctx, 80, 24); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}

// raw starts a program that sends back every byte it gets.
func raw(t testing.TB, c *Client) (*Container, *bufio.Reader) {
	t.Helper()
	ct := start(t, c, nil, "sh", "-c", "stty raw -echo; printf ready; exec cat")
	in := bufio.NewReaderSize(ct, 1<<16)
	readUntil(t, in, "ready")
	return ct, in
}

func TestEveryByteComesThrough(t *testing.T) {
	c := connect(t)
	ct, in := raw(t, c)
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	for what, text := range map[string][]byte{
		// The last of them, 0xff, is held back until the next byte comes.
		"all bytes":                   append(all, 'x'),
		"the usual detach keys":       {0x10, 0x11},
		"a control character alone":   {0x10},
		"the zero byte alone":         {0},
		"zero bytes":                  {0, 0, 0, 0},
		"the start of our own keys":   []byte("\xff\xfe\xff\xfd\xff\xfcx"),
		"the first of them, repeated": []byte("\xff\xff\xff\xffx"),
	} {
		t.Run(what, func(t *testing.T) {
			if _, err := ct.Write(text); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			got := make([]byte, len(text))
			if _, err := io.ReadFull(in, got); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if !bytes.Equal(got, text) {
				t.Errorf("%s: %x came back as %x", what, text, got)
			}
		})
	}
}

func TestMebibyteEachWay(t *testing.T) {
	c := connect(t)
	ct, in := raw(t, c)
	want := make([]byte, 1<<20)
	if _, err := rand.Read(want); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() { _, err := ct.Write(want); sent <- err }()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(in, got); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("what came back is not what was sent")
	}
}
