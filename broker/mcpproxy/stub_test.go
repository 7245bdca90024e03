package mcpproxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/fetch"
)

// The test program doubles as the MCP server it tests against: started with
// stubVar set, it answers on standard output and writes every line it receives
// to a file, byte for byte.
const (
	stubVar  = "IRONCURTAIN_TEST_STUB"  // directory of the stub
	fetchVar = "IRONCURTAIN_TEST_FETCH" // set: it is our fetch server instead
	rootsVar = "IRONCURTAIN_TEST_ROOTS" // set: it asks for roots; "once": only at the start
	toolsVar = "IRONCURTAIN_TEST_TOOLS" // its tools, as JSON; a file "tools.json" there wins
)

// childEnv is the environment of the test program as a server: that, and that it ends
// when it is done. When races are looked for it would wait a second for reports of
// what it has left running, in every test.
func childEnv(vars map[string]string) map[string]string {
	vars["GORACE"] = "atexit_sleep_ms=0"
	return vars
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(stubVar); dir != "" {
		runStub(dir)
		return
	}
	if os.Getenv(fetchVar) != "" {
		if err := fetch.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Exit(3)
		}
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.Remove(isolateFile)
		os.Exit(code)
	}))
}

// stub is the server's state.
type stub struct {
	dir string
	mu  sync.Mutex
}

func (s *stub) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

func runStub(dir string) {
	record, err := os.OpenFile(filepath.Join(dir, "received"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(3)
	}
	s := &stub{dir: dir}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if _, err := record.Write(line); err != nil {
			os.Exit(3)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &m) == nil {
			s.answer(m.ID, m.Method, m.Params)
		}
	}
}

func (s *stub) answer(id json.RawMessage, method string, params json.RawMessage) {
	switch method {
	case "initialize":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"stub","version":"1"}}}`, id)
	case "tools/list":
		tools := os.Getenv(toolsVar)
		if b, err := os.ReadFile(filepath.Join(s.dir, "tools.json")); err == nil {
			tools = string(b)
		}
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, id, tools)
	case "tools/call":
		s.call(id, params)
	case "notifications/initialized", "notifications/roots/list_changed":
		if how := os.Getenv(rootsVar); how == "1" || how == "once" && method == "notifications/initialized" {
			s.say(`{"jsonrpc":"2.0","id":"roots","method":"roots/list"}`)
		}
	default:
		if id != nil {
			s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		}
	}
}

// hold answers a call once there is a file "go".
func (s *stub) hold(id json.RawMessage) {
	for range time.Tick(time.Millisecond) {
		if os.Remove(filepath.Join(s.dir, "go")) == nil {
			s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"held"}]}}`, id)
			return
		}
	}
}

// call behaves as the name of the file in its arguments says.
func (s *stub) call(id, params json.RawMessage) {
	var p struct {
		Arguments struct{ Path string }
		Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p)
	text := "done " + p.Arguments.Path
	failed := false
	switch filepath.Base(p.Arguments.Path) {
	case "crash":
		os.Exit(1)
	case "farewell":
		defer os.Exit(0)
	case "hang":
		return
	case "held":
		go s.hold(id)
		return
	case "huge":
		text = strings.Repeat("x", 11<<20)
	case "garbage":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":"nothing of the kind"}`, id)
		return
	case "twice":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]},"result":{"content":[]}}`, id)
		return
	case "torn":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":`, id)
		return
	case "refuse":
		s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"not today"}}`, id)
		return
	case "bytes":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"caf`+"\xe9"+`"}]}}`, id)
		return
	case "spelled":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"\u0074ell-nobody-0123456\u003789 in %s \ud83d\ude00 \ud800 \u000a\u0022\u005c"}]}}`,
			id, strings.ReplaceAll(p.Arguments.Path, "/", `\/`))
		return
	case "parts":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"a tell-no"},{"type":"image","data":"","mimeType":"image/png"},`+
			`{"type":"text","text":"body"},{"type":"text","text":"-0123456789 b","annotations":{"priority":1}},{"type":"text","text":"c"}]}}`, id)
		return
	case "halves": // the first is long enough to be masked by itself
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"a tell-nobody-01234"},{"type":"text","text":"56789 b"}]}}`, id)
		return
	case "structured":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}],"structuredContent":{"answer":42}}}`, id)
		return
	case "onlystructured":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"answer":42}}}`, id)
		return
	case "secret":
		text = "the token is tell-nobody-0123456789"
	case "blocked":
		text, failed = "EROFS: read-only file system", true
	case "progress":
		s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2,"message":"half"}}`, p.Meta.ProgressToken)
	case "change":
		s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	case "late":
		s.say(`{"jsonrpc":"2.0","id":"ic-999999","result":{"content":[]}}`)
	}
	body, _ := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": failed})
	s.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, body)
}
