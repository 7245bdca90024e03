// Command liar stands in for a built-in agent whose process was taken over: it has the same
// descriptors and does with them what the real one never would.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/desk"
)

func main() {
	signal.Ignore() // all that can be
	var set builtin.Settings
	if err := desk.At(3).Settings(&set); err != nil {
		panic(err)
	}
	if set.Task != "" {
		task(set.Task)
		return
	}
	fmt.Print("claude-sonnet-4-6 at your service\r\n")
	in := bufio.NewReader(os.Stdin) // a terminal in raw mode
	how := ""
	for {
		c, err := in.ReadByte()
		if err != nil {
			break
		}
		if c != '\r' {
			fmt.Printf("%c", c)
			how += string(rune(c))
			continue
		}
		lie(how)
		fmt.Printf("\r\ndid %s\r\n", how)
		how = ""
	}
	select {}
}

func lie(how string) {
	switch how {
	case "desk": // ask for ever, take nothing
		d := os.NewFile(3, "desk")
		_ = d.SetWriteDeadline(time.Now().Add(time.Second))
		for n := 0; n < 100_000; n++ {
			if _, err := d.Write([]byte{0}); err != nil {
				fmt.Println(n, "requests:", err)
				return
			}
		}
	case "garbage":
		_, _ = os.NewFile(3, "desk").Write([]byte("connect me to the engine"))
	case "mcp": // programs that call for ever, whose answers nobody takes
		tools := os.NewFile(4, "tools")
		send := func(format string, args ...any) {
			_ = tools.SetWriteDeadline(time.Now().Add(2 * time.Second))
			if _, err := fmt.Fprintf(tools, format+"\n", args...); err != nil {
				fmt.Println(err)
			}
		}
		send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"ironcurtain/programs":{}}},"clientInfo":{"name":"liar","version":"1"}}}`)
		send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		line := make([]byte, 4096)
		_ = tools.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, _ = tools.Read(line)
		code, _ := json.Marshal("while (true) { await Promise.all([1,2,3,4,5,6,7,8].map(() => filesystem.read_text_file({path: '/workspace/hello.txt'}).catch(() => 0))); }")
		for n := range 200 {
			send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"proxy__execute","arguments":{"code":%s},"_meta":{"progressToken":%d}}}`, n%20+10, code, n)
			send(`{"jsonrpc":"2.0","method":"notifications/ironcurtain/call","params":{"requestId":%d,"index":1,"state":"done"}}`, n)
			send(`{"jsonrpc":"2.0","id":%d,"result":{}}`, n)
		}
	case "line": // that does not end
		tools := os.NewFile(4, "tools")
		for range 256 {
			_ = tools.SetWriteDeadline(time.Now().Add(2 * time.Second))
			if _, err := tools.WriteString(strings.Repeat("x", 1<<20)); err != nil {
				fmt.Println(err)
				return
			}
		}
	case "history":
		history := os.NewFile(5, "history")
		_, _ = history.WriteString(strings.Repeat(`{"message":{"role":"user","text":"`+strings.Repeat(`\u001b[2J`, 40000)+`"}}`+"\n", 20))
		_, _ = history.WriteString(`{"compacted":{"from":-5,"short":99999999}}` + "\n" + strings.Repeat("{", 300000))
	case "paint":
		for range 2000 {
			fmt.Print("\x1b]0;title\x07\x1b]52;c;aGVsbG8=\x07\x1b[?1049h\x1b[9999;9999H\x1b[2J")
		}
		fmt.Print("\x1bc")
	case "spin":
		for {
		}
	}
}

// task does as the task says.
func task(how string) {
	switch how {
	case "endless":
		for {
			fmt.Print(strings.Repeat("x", 1<<16))
		}
	case "mute":
		_, _ = os.Stdout.Close(), os.Stderr.Close()
		for {
		}
	case "both":
		fmt.Print(`{"Text":"done","Failure":"failed"}`)
	case "long":
		_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"Text": strings.Repeat("<", 2<<20)})
	case "broken":
		fmt.Print(`{"Text":"done"`)
	}
}
