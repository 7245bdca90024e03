package bridge_test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// waits tells the bridge that a call waits for a person.
func (l *link) waits(id, ticket string) {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.conn, `{"jsonrpc":"2.0","method":"notifications/ironcurtain/waiting","params":{"requestId":%s,"ticket":%q}}`+"\n", id, ticket); err != nil {
		l.t.Fatal(err)
	}
}

// resumed reads the next request, which must offer a waiting call.
func (l *link) resumed() (id, ticket, call string) {
	l.t.Helper()
	line, err := l.r.ReadString('\n')
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Ticket string
			Call   json.RawMessage
		}
	}
	if err != nil || json.Unmarshal([]byte(line), &m) != nil || m.Method != "ironcurtain/resume" {
		l.t.Fatalf("the host hears %s (%v)", line, err)
	}
	return string(m.ID), m.Params.Ticket, string(m.Params.Call)
}

// The host is killed, twice, while a call waits for a person: the agent does not notice, and gets the
// answer to its request. A call that did not wait ends; one that the agent cancels meanwhile is not
// offered.
func TestAWaitingCallIsOfferedToTheNextHost(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	a := startAgent(t, socket)
	l := h.accept()
	greet(a, l)
	for id := 1; id <= 3; id++ {
		a.say(call, id)
		l.request("tools/call")
	}
	l.waits("1", "ticket")
	l.waits("2", "taken-back")
	l.waits("99", "nobody")
	a.say(`{"jsonrpc":"2.0","id":"sync","method":"ping"}`)
	l.answer(l.request("ping"), "{}")
	a.hears(`"id":"sync"`) // and no word of what waits
	_ = h.listener.Close()
	_ = l.conn.Close()
	a.hears(`"id":3`, "INTERRUPTED")
	a.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)

	for range 2 {
		h = startHost(t, socket)
		l = h.accept()
		l.answer(l.request("initialize"), `{}`)
		l.request("notifications/initialized")
		a.hears("notifications/tools/list_changed")
		if id, ticket, params := l.resumed(); id != "1" || ticket != "ticket" || params != `{"name":"x","arguments":{}}` {
			t.Errorf("offered: %s %s %s", id, ticket, params)
		}
		a.say(`{"jsonrpc":"2.0","id":"sync","method":"ping"}`)
		l.answer(l.request("ping"), "{}")
		a.hears(`"id":"sync"`)
		_ = h.listener.Close()
		_ = l.conn.Close()
	}
	h = startHost(t, socket)
	l = h.accept()
	l.answer(l.request("initialize"), `{}`)
	l.request("notifications/initialized")
	a.hears("notifications/tools/list_changed")
	l.resumed()
	l.answer("1", `"at last"`)
	a.hears(`"id":1`, `"at last"`)
}

// A host that does not know how to resume carries nothing out, and the call ends as interrupted.
func TestAHostThatCannotResume(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	a := startAgent(t, socket)
	l := h.accept()
	a.say(call, 1)
	l.waits(l.request("tools/call"), "ticket")
	a.say(`{"jsonrpc":"2.0","id":"sync","method":"ping"}`)
	l.answer(l.request("ping"), "{}")
	a.hears(`"id":"sync"`)
	_ = h.listener.Close()
	_ = l.conn.Close()
	h = startHost(t, socket)
	l = h.accept()
	l.resumed()
	_, _ = fmt.Fprintln(l.conn, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no such method"}}`)
	a.hears(`"id":1`, `"isError":true`, "INTERRUPTED")
}

// says tells the bridge whether a call has begun.
func (l *link) says(method, id string) {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.conn, `{"jsonrpc":"2.0","method":"notifications/ironcurtain/%s","params":{"requestId":%s}}`+"\n", method, id); err != nil {
		l.t.Fatal(err)
	}
}

// The host is upgraded: a call of which nothing is done is sent to the next host, and one that has
// begun meanwhile ends.
func TestACallThatHasNotBegunIsSentAgain(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	a := startAgent(t, socket)
	l := h.accept()
	greet(a, l)
	for id := 1; id <= 2; id++ {
		a.say(call, id)
		l.request("tools/call")
	}
	l.says("unbegun", "1")
	l.says("unbegun", "2")
	l.says("begun", "2")
	a.say(`{"jsonrpc":"2.0","id":"sync","method":"ping"}`)
	l.answer(l.request("ping"), "{}")
	a.hears(`"id":"sync"`) // and no word of the rest
	_ = h.listener.Close()
	_ = l.conn.Close()
	a.hears(`"id":2`, "INTERRUPTED")
	h = startHost(t, socket)
	l = h.accept()
	l.answer(l.request("initialize"), `{}`)
	l.request("notifications/initialized")
	a.hears("notifications/tools/list_changed")
	l.answer(l.request("tools/call"), `"done"`)
	a.hears(`"id":1`, `"done"`)
}
