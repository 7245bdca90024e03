// Command webapp is a web application as an agent would serve it: a page that talks to its
// server over a websocket, and a stream of bytes.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"

	"golang.org/x/net/websocket"
)

const page = `<!doctype html><p id=state>no answer</p><script>
const s = new WebSocket("ws://" + location.host + "/echo");
s.onopen = () => s.send("websocket");
s.onmessage = (m) => { document.getElementById("state").textContent = m.data + " works"; };
</script>`

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
	http.Handle("/echo", websocket.Handler(func(c *websocket.Conn) { _, _ = io.Copy(c, c) }))
	http.HandleFunc("/zeros", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(struct{ io.Writer }{w}, zeros{}) })
	fmt.Println("serving on", os.Args[1])
	fmt.Println(http.ListenAndServe(os.Args[1], nil)) //nolint:gosec // for a test
}
