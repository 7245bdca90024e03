package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of the host is attached, and one of the container is saved. The agent can neither
// change what was attached nor have its links followed, and the policy judges where a file
// is saved.
func TestAttachAndSave(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell","protected":["~/.ssh"]}`)
	at := func(name string) string { return filepath.Join(home, "user", name) }
	d := drive(t, home, 120, 30)
	d.see(patience, "/workspace$")
	if err := os.Mkdir(at(".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("my notes.txt"), []byte("hello from the host\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.send("cat \x01/attach ~/my\\ notes.txt\r")
	d.see(patience, "/workspace$ cat /attachments/my-notes.txt", "attached to shell ")
	d.send("\r")
	d.see(patience, "hello from the host\n")
	d.send("touch /attachments/x; mkfifo ~/pipe; ln -s /etc/passwd ~/link; echo result >~/out.txt; mkdir below; echo x >below/here.txt; chmod +x ~/out.txt; echo re''ady\r")
	d.see(patience, "ready\n")
	if !copied() { // else it is the container's own, and does not come here
		d.see(patience, "Read-only file system")
	}
	d.send("\x01/save ~/out.txt ~/saved.txt\r")
	d.see(patience, "saved as "+at("saved.txt"))
	if info, err := os.Stat(at("saved.txt")); err != nil || info.Mode() != 0o600 || info.Size() != 7 {
		t.Errorf("%v, %v", info, err)
	}
	pipe := "/home/codespace/pipe is a named pipe"
	if copied() {
		pipe = "there is no pipe in the container" // only what can be copied has come here
	}
	for line, want := range map[string]string{
		"/save out.txt ~/saved.txt":               "saved.txt exists (/save -f replaces it)",
		"/save link ~/x":                          "/home/codespace/link is a link (let the agent make a regular file of it)",
		"/save below ~/x":                         "save: /workspace/below is a directory",
		"/save below/here.txt/x ~/x":              "save: /workspace/below/here.txt is a file, not a directory",
		"/save pipe ~/x":                          pipe,
		"/save ../../etc/passwd ~/x":              "is neither in the agent's home",
		"/save none ~/x":                          "there is no none in the container (it was looked for in /workspace and in the agent's home)",
		"/save /workspace ~/x":                    "/workspace is a directory (name a file in it)",
		"/save below/here.txt ~/here.txt":         "saved as " + at("here.txt"),
		"/save out.txt ~/.ssh/authorized_keys":    "the policy denies writing",
		"/save out.txt " + d.state("config.json"): "the policy denies writing",
		"/attach " + d.state("config.json"):       "protected",
		"/attach /dev/zero":                       "/dev/zero is a device",
		"/attach ~/gone":                          "gone does not exist",
	} {
		d.send("\x01" + line + "\r")
		d.see(patience, want)
		d.send("\x15\x1b")
	}
	session := d.onlySession()
	if record := d.audit(session.ID); !strings.Contains(record, "the person attaches "+at("my notes.txt")) || !strings.Contains(record, "the person saves ~/out.txt of the container to "+at("saved.txt")) {
		t.Errorf("on record:\n%s", record)
	}
	if left, err := os.ReadDir(d.state("sessions", string(session.ID), "attachments")); err != nil || len(left) != 1 {
		t.Errorf("attachments: %v, %v", left, err)
	}
	if _, err := os.Lstat(at("x")); err == nil {
		t.Error("a refused file was saved")
	}
	d.send("\x01/quit!\r")
	d.exit(patience)
}

// The real Claude Code takes the path of an attached picture for a picture, and its model gets
// the picture.
func TestClaudeCodeSeesAttachedPicture(t *testing.T) {
	t.Parallel()
	d := openDemo(t, newHome(t))
	shot := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for i := range 32 {
		shot.Set(i, i, color.RGBA{R: 255, A: 255})
	}
	var data bytes.Buffer
	if err := png.Encode(&data, shot); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.home, "user", "shot.png")
	if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d.send("\x01/attach ~/shot.png\r")
	d.see(patience, "[Image #1]")
	d.ask("what is it")
	want := fmt.Sprintf("Iwasshownapicture:image/png,%dbytes,SHA-256%x.", data.Len(), sha256.Sum256(data.Bytes()))
	d.until("the picture's description", patience, func(screen string) bool {
		return strings.Contains(strings.ReplaceAll(oneLine(screen), " ", ""), want)
	})
	d.quit()
}
