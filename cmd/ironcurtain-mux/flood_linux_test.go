package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// endLimit is how long a flooded proxy may take to end, on a busy machine too.
const endLimit = 10 * time.Second

// longName is the command of an MCP server whose answers are long.
const longName = "long-server"

func init() { //nolint:gochecknoinits // the programs are known before the tests begin
	programs[longName] = longServer
}

func longServer() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	text := strings.Repeat("x", 4<<20)
	for {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // of a long message the beginning says all
			_, err = in.ReadSlice('\n')
		}
		if err != nil {
			return
		}
		_, rest, _ := strings.Cut(string(line[:min(len(line), 200)]), `"id":`)
		id, rest, _ := strings.Cut(rest, ",")
		switch {
		case strings.Contains(rest, `"initialize"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"long","version":"1"}}}`+"\n", id)
		case strings.Contains(rest, `"tools/list"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"read_text_file","inputSchema":{"type":"object"}},`+
				`{"name":"write_file","inputSchema":{"type":"object"}},{"name":"read_multiple_files","inputSchema":{"type":"object"}}]}}`+"\n", id)
		case strings.Contains(rest, `"tools/call"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", id, text)
		}
	}
}

// TestAFloodOfRequestsIsBounded has an agent send as much as it can, over as many
// connections as it gets, and read nothing. Whatever it sends, the memory is bounded,
// and SIGTERM is obeyed meanwhile.
func TestAFloodOfRequestsIsBounded(t *testing.T) {
	write := func(path string, content string) string {
		return fmt.Sprintf(`"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":%q}}}`, path, content)
	}
	mega := strings.Repeat("x", 1<<20)
	program := plainProgram(t)
	paths := strings.TrimSuffix(strings.Repeat(`"/srv/a",`, 40_000), ",")
	for name, tail := range map[string]string{
		"calls that wait":       write("/srv/a", mega+mega+mega),
		"small calls":           write("/srv/a", "x"),
		"long answers":          `"tools/call","params":{"name":"filesystem__read_text_file","arguments":{"path":"/workspace/a"}}}`,
		"calls of many values":  `"tools/call","params":{"name":"filesystem__read_multiple_files","arguments":{"paths":[` + paths + `]}}}`,
		"arguments of numbers":  `"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":[` + strings.Repeat("0,", 49_000) + `0]}}}`,
		"members of no call":    `"tools/call","params":{"name":"filesystem__write_file","more":"` + mega + mega + `"}}`,
		"members without end":   `"ping",` + manyMembers() + `}`,
		"messages without end":  `"` + strings.Repeat(mega, 9),
		"lists that nobody has": `"tools/list"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := startFlooded(t, program)
			idle := f.memory("VmRSS")
			stop := f.flood(tail, name == "messages without end")
			peak := f.memory("VmHWM")
			began := time.Now()
			_ = f.cmd.Process.Signal(syscall.SIGTERM)
			if err := f.cmd.Wait(); err != nil {
				t.Error(err)
			}
			took := time.Since(began)
			stop()
			t.Logf("%d MB idle, %d MB more at most, ended in %v", idle>>20, (peak-idle)>>20, took)
			if peak-idle > mostMemory {
				t.Errorf("%d MB more than the %d MB of a proxy without calls", (peak-idle)>>20, idle>>20)
			}
			if took > endLimit {
				t.Errorf("SIGTERM took %v", took)
			}
		})
	}
}

// plainProgram builds the program without the race detector, which takes many times its
// memory and time.
func plainProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ironcurtain-mux")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

func manyMembers() string {
	var b strings.Builder
	for i := range 600_000 {
		fmt.Fprintf(&b, `"%x":1,`, i)
	}
	return b.String() + `"z":1`
}

// flooded is a proxy whose calls to places outside wait for a directory of answers.
type flooded struct {
	t      *testing.T
	cmd    *exec.Cmd
	socket string
}

func startFlooded(t *testing.T, program string) *flooded {
	t.Helper()
	dir := newHome(t)
	long, err := exec.LookPath(longName)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]any{"filesystem": map[string]any{"command": long, "sandbox": false}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("servers.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("work"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := &flooded{t: t, socket: at("s")}
	f.cmd = exec.CommandContext(t.Context(), program, "proxy", "mcp", "--servers", at("servers.json"), "--sandbox", at("work"),
		"--audit", at("audit.jsonl"), "--socket", f.socket, "--escalations", at("asked"))
	f.cmd.Env, f.cmd.Stderr = environment(dir, cacheDirectory(t)), os.Stderr
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if lines := bufio.NewScanner(out); !lines.Scan() {
		t.Fatal("it does not serve")
	}
	return f
}

// flood sends requests that end so, 256 on each of 64 connections, until none of them
// takes any more or two seconds have passed.
func (f *flooded) flood(tail string, unended bool) (stop func()) {
	f.t.Helper()
	var all, sent sync.WaitGroup
	done := make(chan struct{})
	var conns []net.Conn
	for range 64 {
		conn, err := net.Dial("unix", f.socket)
		if err != nil {
			f.t.Fatal(err)
		}
		conns = append(conns, conn)
		sent.Add(1)
		all.Go(func() {
			for i := range 256 {
				_, err := io.WriteString(conn, `{"jsonrpc":"2.0","id":`+strconv.Itoa(i)+`,"method":`+tail)
				if err == nil && !unended {
					_, err = io.WriteString(conn, "\n")
				}
				if err != nil || unended {
					break
				}
			}
			sent.Done()
			<-done
		})
	}
	over := make(chan struct{})
	go func() { sent.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(2 * time.Second):
	}
	return func() {
		close(done)
		for _, c := range conns {
			_ = c.Close()
		}
		all.Wait()
	}
}

// memory is that of the proxy and of its servers, together.
func (f *flooded) memory(what string) (sum int64) {
	f.t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", f.cmd.Process.Pid))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, pid := range append(strings.Fields(string(children)), strconv.Itoa(f.cmd.Process.Pid)) {
		status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
		if err != nil {
			f.t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(status), what+":")
		kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			f.t.Fatal(err)
		}
		sum += kb << 10
	}
	return sum
}
