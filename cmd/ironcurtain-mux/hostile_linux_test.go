package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// "make endure" has a minute, and with it all of the test's cases.
var hostileFor = flag.Duration("hostile", 4*time.Second, "for how long each container of TestAHostileContainerIsBounded is hostile")

// What a hostile container may cost the program, and one that has, or says that it has, as many files
// as are copied.
const (
	mostHostile = 32 << 20
	mostFiles   = 48 << 20
)

// hostileProgram builds the program with a bridge that can do what only a hostile one does.
func hostileProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(root, "cmd/ironcurtain-mux-bridge")
	source, err := os.ReadFile(filepath.Join(command, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for honest, hostile := range map[string]string{
		"treesync.NewServer(trees())":         "hostileFiles{treesync.NewServer(trees())}",
		"func plain(args []string) error {\n": "func plain(args []string) error {\n\tif len(args) == 2 && args[0] == \"hostile\" {\n\t\tflood(args[1])\n\t}\n",
	} {
		if !bytes.Contains(source, []byte(honest)) {
			t.Fatalf("main.go of the bridge has no %s", honest)
		}
		source = bytes.ReplaceAll(source, []byte(honest), []byte(hostile))
	}
	write := func(name string, data []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	build := func(overlay map[string]string, to, of string) string {
		text, err := json.Marshal(map[string]any{"Replace": overlay})
		if err != nil {
			t.Fatal(err)
		}
		to = filepath.Join(dir, to)
		cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-overlay", write(filepath.Base(to)+".json", text), "-o", to, of)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		return to
	}
	bridge, err := os.ReadFile(build(map[string]string{
		filepath.Join(command, "main.go"):    write("main.go", source),
		filepath.Join(command, "hostile.go"): filepath.Join(root, "cmd/ironcurtain-mux/testdata/hostile/hostile.go"),
	}, "bridge", command))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	fmt.Fprintf(&packed, "%x\n", sha256.Sum256(bridge))
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(bridge); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	over := map[string]string{
		filepath.Join(root, "broker/bridge/embedded/built/ironcurtain-mux-bridge-linux-"+runtime.GOARCH): write("bridge", packed.Bytes()),
	}
	return build(over, "ironcurtain-mux", filepath.Join(root, "cmd/ironcurtain-mux"))
}

// A container floods every way that leads out of it, or lies about its files: the program's memory
// is bounded, and the keys of another tab come back.
func TestAHostileContainerIsBounded(t *testing.T) {
	t.Parallel()
	program := hostileProgram(t)
	for name, c := range map[string]struct {
		files, script string
		worst         bool // also tried when there is little time
	}{
		"output":          {"shared", "exec ironcurtain-mux-bridge hostile output", false},
		"endless lines":   {"shared", "ironcurtain-mux-bridge hostile lines", false},
		"calls":           {"shared", "ironcurtain-mux-bridge hostile calls", true},
		"large calls":     {"shared", "ironcurtain-mux-bridge hostile large", false},
		"calls that wait": {"shared", "ironcurtain-mux-bridge hostile waiting", false},
		"heads":           {"shared", "ironcurtain-mux-bridge hostile heads", false},
		"carriers":        {"shared", "while :; do pkill -f 'bridge carry'; sleep 0.02; done", false},
		"files changing":  {copiedFiles, changing + "ironcurtain-mux-bridge hostile barriers", false},
		"files mute":      {copiedFiles, lie("mute"), false},
		"files unending":  {copiedFiles, lie("unending"), false},
		"files long":      {copiedFiles, lie("long"), true},
	} {
		if !c.worst && *hostileFor < time.Minute {
			continue
		}
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			toolAgent(t, home, map[string]any{"engine": map[string]string{"way": "stream", "files": c.files}})
			d, view := driveServed(t, home, program, "--agent", "mine", "--workspace", workspaceOf(t, home))
			d.toolCall(d.onlySession().ID, "filesystem__list_directory", `{"path":"/workspace"}`)
			view.send("\x01/new mine\r")
			view.inTab(2, "mine$")
			view.send("clear; sleep 1; " + c.script + "\r")
			view.send("\x1b1")
			view.inTab(1, "mine$")
			pid, err := strconv.Atoi(d.note("pid"))
			if err != nil {
				t.Fatal(err)
			}
			idle := anonymous(t, pid)
			late, most := view.typeBeside(t, pid, *hostileFor)
			t.Logf("%d MB idle, %d MB more at most; %d keys, p50 %v, p99 %v", idle>>20, (most-idle)>>20, len(late), late[len(late)/2], late[len(late)*99/100])
			if more := most - idle; more > mostFiles || more > mostHostile && name != "files long" {
				t.Errorf("%d MB more than the %d MB when nothing happens", (most-idle)>>20, idle>>20)
			}
			_, _, _ = d.command("stop", "--now") // what cannot be brought is said, and stays in the volume
			d.exit(2 * time.Minute)
			d.traceless()
		})
	}
}

// changing writes files without end, and lie has the container say of them what is not so, while
// calls ask for them.
const changing = "(cd /workspace; while :; do for i in 1 2 3 4 5 6 7 8 9; do head -c 100000 /dev/urandom >f$i; done; done) & "

func lie(about string) string {
	return "echo " + about + " >/tmp/lie; ironcurtain-mux-bridge hostile barriers"
}

// anonymous is the memory of a process that no file has.
func anonymous(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "RssAnon:")
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// typeBeside types into the tab in front for so long. It returns how long each key took to come
// back, sorted, and the most memory that a process had meanwhile.
func (d *driver) typeBeside(t *testing.T, pid int, long time.Duration) (late []time.Duration, most int64) {
	t.Helper()
	tap, back := awaitEcho()
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for began := time.Now(); time.Since(began) < long; {
		d.tap.Store(&tap)
		for range 60 {
			<-pause.C
			sent := time.Now()
			d.send("x")
			select {
			case <-back:
			case <-time.After(patience):
				t.Fatalf("a key did not come back; the screen:\n%s", d.text())
			}
			late = append(late, time.Since(sent))
			most = max(most, anonymous(t, pid))
		}
		d.tap.Store(nil)
		d.send("\x15") // before the line wraps
		d.until("an empty line", patience, func(screen string) bool { return !strings.Contains(screen, "$ x") })
	}
	slices.Sort(late)
	return late, most
}
