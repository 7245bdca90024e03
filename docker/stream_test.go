package docker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestTryWriteDoesNotWait(t *testing.T) {
	c := connect(t)
	ct := start(t, c, nil, "sh", "-c", "stty raw -echo; printf ready; exec sleep 1000")
	readUntil(t, bufio.NewReader(ct), "ready")
	whole := bytes.Repeat([]byte("x"), 64<<10)
	end := time.Now().Add(30 * time.Second)
	for n := len(whole); n == len(whole); {
		var err error
		if n, err = ct.TryWrite(whole); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatal("a program that does not read takes everything")
		}
	}
	if err := ct.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := ct.TryWrite(whole); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

func TestTryWriteReachesTheProgram(t *testing.T) {
	c := connect(t)
	ct, in := raw(t, c)
	if n, err := ct.TryWrite([]byte("a key")); n != 5 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	readUntil(t, in, "a key")
}

func TestOutputWithoutATerminal(t *testing.T) {
	c := connect(t)
	ct := start(t, c, func(s *Spec) { s.TTY = false }, "sh", "-c", "echo out; echo errors >&2; head -c 100000 /dev/zero")
	got := readAll(t, ct)
	for _, part := range []string{"out\n", "errors\n", strings.Repeat("\x00", 100000)} {
		if rest := strings.Replace(got, part, "", 1); rest == got {
			t.Errorf("%.20q is not in the output", part)
		} else {
			got = rest
		}
	}
	if got != "" {
		t.Errorf("%d bytes of something else: %.40q", len(got), got)
	}
}

func TestMultiplexedHoweverItIsCut(t *testing.T) {
	var stream bytes.Buffer
	for i, piece := range []string{"one ", "", "two ", strings.Repeat("three ", 50)} {
		head := [8]byte{byte(1 + i%2)}
		binary.BigEndian.PutUint32(head[4:], uint32(len(piece)))
		stream.Write(head[:])
		stream.WriteString(piece)
	}
	got, err := io.ReadAll(&multiplexed{source: iotest.OneByteReader(&stream)})
	if want := "one two " + strings.Repeat("three ", 50); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNothingBehindTheAnswerIsLost(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n",
	} {
		t.Run(fmt.Sprintf("%.40s", answer), func(t *testing.T) {
			source := strings.NewReader(answer + "hello " + strings.Repeat("again ", headLimit))
			in := bufio.NewReaderSize(source, headLimit)
			if err := judgeAnswer(in); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(&unbuffered{in, source})
			if err != nil || string(got) != "hello "+strings.Repeat("again ", headLimit) {
				t.Errorf("behind %.12q: %d bytes, %v", answer, len(got), err)
			}
		})
	}
}
