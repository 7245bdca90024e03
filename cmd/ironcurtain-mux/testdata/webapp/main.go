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
s.onmessage = (m) => {
  const text = m.data + " works";
  document.getElementById("state").textContent = text;
  fetch("/shown?text=" + encodeURIComponent(text));
};
</script>`

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// stream sends bytes for as long as they are read, without any framing.
func stream(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n")
	_, _ = io.CopyBuffer(struct{ io.Writer }{conn}, zeros{}, make([]byte, 256<<10))
}

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
	http.Handle("/echo", websocket.Handler(func(c *websocket.Conn) { _, _ = io.Copy(c, c) }))
	http.HandleFunc("/shown", func(_ http.ResponseWriter, r *http.Request) { fmt.Println("a browser shows:", r.FormValue("text")) })
	http.HandleFunc("/zeros", stream)
	fmt.Println("serving on", os.Args[1])
	fmt.Println(http.ListenAndServe(os.Args[1], nil)) //nolint:gosec // for a test
}
