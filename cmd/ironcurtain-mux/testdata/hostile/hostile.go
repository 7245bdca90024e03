// Package main is a hostile bridge: it floods the host's program, reads nothing, and lies about files.
// TestAHostileContainerIsBounded adds this file to the bridge's own and makes its main.go call it.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
)

const greeting = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// flood sends what it can, and reads only what it must, until it is killed.
func flood(what string) {
	mega := strings.Repeat("x", 1<<20)
	list := call("list_directory", `{"path":"/workspace"}`)
	switch what {
	case "output":
		for line := strings.Repeat("\x1b[31mflood \x1b[0m", 100) + "\r\n"; ; {
			_, _ = io.WriteString(os.Stdout, line)
		}
	case "lines":
		many(64, agent.ToolSocket, always("", mega))
	case "calls":
		many(64, agent.ToolSocket, always(greeting, list))
	case "large":
		many(64, agent.ToolSocket, always(greeting, call("write_file", `{"path":"/workspace/a","content":"`+mega+`"}`)))
	case "waiting":
		many(64, agent.ToolSocket, always(greeting, call("write_file", `{"path":"/srv/a","content":"`+mega+`"}`)))
	case "heads":
		many(256, agent.ProxySocket, always("CONNECT api.anthropic.com:443 HTTP/1.1\r\n", "X-A: "+strings.Repeat("a", 1000)+"\r\n"))
	case "barriers":
		many(8, agent.ToolSocket, func(c net.Conn) {
			_, _ = io.WriteString(c, greeting)
			for answer := make([]byte, 64<<10); ; {
				if _, err := io.WriteString(c, list); err != nil {
					return
				}
				if _, err := c.Read(answer); err != nil {
					return
				}
			}
		})
	}
}

func call(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem__` + tool + `","arguments":` + arguments + "}}\n"
}

// always sends one text, and then another one without end.
func always(first, then string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, first)
		for err == nil {
			_, err = io.WriteString(c, then)
		}
	}
}

// many does something over so many connections, again when one has ended.
func many(n int, socket string, do func(net.Conn)) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for {
				if c, err := net.Dial("unix", found(socket)); err == nil {
					do(c)
					_ = c.Close()
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	all.Wait()
}

// lieFile says which lie is told about files. Before it is there, none is.
const lieFile = "/tmp/lie"

// hostileFiles is the container's end of files.
type hostileFiles struct{ honest *treesync.Server }

func (h hostileFiles) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	if lie, err := os.ReadFile(lieFile); err == nil {
		return tell(ctx, strings.TrimSpace(string(lie)), conn)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.honest.Serve(ctx, conn) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(50 * time.Millisecond):
		}
		if _, err := os.Stat(lieFile); err == nil {
			_ = conn.Close() // the next one is lied to
			return <-ended
		}
	}
}

// tell answers requests: lists as the lie has them, and to all else nothing.
func tell(ctx context.Context, lie string, conn io.ReadWriteCloser) error {
	for lie != "mute" {
		var head [5]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[1:]))); err != nil {
			return err
		}
		switch head[0] {
		case 'h':
			if _, err := conn.Write(frame('h', []byte{1})); err != nil {
				return err
			}
		case 'S':
			count, width := 195_000, 45 // nearly as many as there may be
			if lie == "unending" {
				count, width = 1<<40, 200
			}
			if err := list(conn, count, width); err != nil {
				return err
			}
		}
	}
	<-ctx.Done()
	return nil
}

// list says that there are so many files, with names so long.
func list(to io.Writer, count, width int) error {
	var b []byte
	for n := range count {
		name := fmt.Sprintf("%0*d", width, n)
		b = append(binary.AppendUvarint(append(b, 0), uint64(len(name))), name...)
		b = append(binary.AppendUvarint(append(b, 1), 0o644), 10) // a file, its mode and size
		b = append(b, make([]byte, 32)...)
		if len(b) > 50<<10 || n == count-1 {
			if _, err := to.Write(frame('m', b)); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := to.Write(frame('z', binary.AppendUvarint([]byte{0, 0}, uint64(count))))
	return err
}

func frame(what byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{what}, uint32(len(body))), body...)
}
