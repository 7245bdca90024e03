package docker

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
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
