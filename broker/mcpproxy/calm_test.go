package mcpproxy

import (
	"fmt"
	"testing"
	"time"
)

// A calm proxy begins no call, says so, and begins it at the end of the calm. A server that rests
// is started again by the next call.
func TestCalm(t *testing.T) {
	r := newHarness(t, nil)
	a := r.agent()
	read := func(id string) string {
		return callLine(id, "filesystem__read_text_file", fmt.Sprintf(`{"path":"%s/a.txt"}`, r.work))
	}
	a.send(read("1"))
	a.answerTo("1")
	eventually(t, func() bool { return r.proxy.Begun() == 0 }, "the call has not ended") // it does so after the answer
	r.proxy.Calm(true)
	before := len(r.forwarded())
	a.send(read("2"))
	if m := a.receive(); m.Method != notifyUnbegun || string(m.Params) != `{"requestId":2}` {
		t.Fatalf("got %s %s", m.Method, m.Params)
	}
	a.send(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	a.answerTo("9") // other requests are answered
	if n := r.proxy.Begun(); n != 0 || len(r.forwarded()) != before {
		t.Errorf("%d calls have begun", n)
	}
	r.proxy.Rest(time.Minute)
	if !r.atRest("filesystem") {
		t.Error("the server does not rest")
	}
	r.proxy.Calm(false)
	if m := a.receive(); m.Method != notifyBegun || string(m.Params) != `{"requestId":2}` {
		t.Fatalf("got %s %s", m.Method, m.Params)
	}
	a.answerTo("2")
	if n := len(r.forwarded()); n <= before {
		t.Error("the call was not carried out")
	}
}
