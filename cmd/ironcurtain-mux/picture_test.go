package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var picture = flag.String("picture", "", "draw the README's picture anew into this file")

// pictureHome is where the demo of the picture lives: it is seen in it.
const pictureHome = "/tmp/demo"

// The README's picture is a screen of the real demo: Claude Code has asked for a
// file outside its workspace, and the panel asks the person. "make picture" draws
// it; without that the one that is kept is looked at.
func TestPicture(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "demo.svg")
	if *picture != "" {
		path = *picture
		drawPicture(t, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s is no picture: %v", path, err)
		}
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
	plain := strings.Join(strings.Fields(text.String()), "")
	for _, want := range []string{"claude-code", "ClaudeCodev", "approval1/1", "filesystem/write_file", pictureHome + "/", "/approve", "1waiting", "scriptedmodel"} {
		if !strings.Contains(plain, want) {
			t.Errorf("%s does not show %q", path, want)
		}
	}
}

func drawPicture(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(pictureHome, 0o700); err != nil {
		t.Fatalf("the picture is drawn in a directory of its own: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(pictureHome) })
	d := driveDemo(t, pictureHome, 100, 36)
	d.ask("/clear")
	d.until("a fresh conversation", patience, func(screen string) bool {
		return strings.Contains(screen, "Claude Code v") && !strings.Contains(screen, "Done: list")
	})
	d.ask("write " + d.state("demo", "outside", "notes.txt") + " hello")
	d.see(patience, "waiting")
	d.send("\x01")
	d.see(patience, "approval 1/1", "effect: ")
	var svg bytes.Buffer
	if err := d.screen.DumpSVG(&svg); err != nil {
		t.Fatal(err)
	}
	d.send("/quit!\r")
	d.exit(2 * time.Minute)
	if err := os.WriteFile(path, svg.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
