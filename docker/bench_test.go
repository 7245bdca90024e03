package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	engine "github.com/fsouza/go-dockerclient"
)

// BenchmarkStart measures from the request for a container to the first byte of its
// program, through this package and, by turns in the same run, through handwritten
// requests to the engine's socket for the same container:
//
//	go test -run '^$' -bench Start ./docker
func BenchmarkStart(b *testing.B) {
	c := connect(b)
	s := Spec{
		Image: image(b, c, "shell"), Cmd: []string{"sh", "-c", "echo x; exec sleep 100"}, User: "1000:1000",
		MemoryMB: 512, Cols: 80, Rows: 24, Labels: testLabel(b, c),
	}
	var ours, plain []time.Duration
	for b.Loop() {
		began := time.Now()
		ct, err := c.Start(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ct.Read(make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(began))
		if err := ct.Remove(b.Context()); err != nil {
			b.Fatal(err)
		}
		took, id := startPlain(b, c, s)
		plain = append(plain, took)
		if err := c.remove(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "ours-ms")
	b.ReportMetric(median(plain), "plain-ms")
	b.ReportMetric(median(ours)-median(plain), "added-ms")
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}

// startPlain does with hand-written requests what Start does, without the
// checks and without the terminal's size.
func startPlain(b *testing.B, c *Client, s Spec) (time.Duration, string) {
	b.Helper()
	socket := c.Endpoint().SocketPath()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) },
	}}
	body, err := json.Marshal(struct {
		*engine.Config
		HostConfig *engine.HostConfig
	}{s.config(), s.hostConfig(c.info)})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	var created struct{ ID string }
	resp, err := client.Post("http://engine/containers/create", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if err := json.NewDecoder(resp.Body).Decode(&created); err != nil || resp.StatusCode != http.StatusCreated {
		b.Fatalf("%s %v", resp.Status, err)
	}
	resp.Body.Close()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /containers/%s/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\n"+
		"Host: engine\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n", created.ID)
	in := bufio.NewReader(conn)
	upgraded, err := http.ReadResponse(in, nil)
	if err != nil || upgraded.StatusCode != http.StatusSwitchingProtocols {
		b.Fatalf("%+v %v", upgraded, err)
	}
	resp, err = client.Post("http://engine/containers/"+created.ID+"/start", "", nil)
	if err != nil || resp.StatusCode != http.StatusNoContent {
		b.Fatalf("%+v %v", resp, err)
	}
	resp.Body.Close()
	if _, err := in.ReadByte(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began), created.ID
}

// BenchmarkEcho measures a byte to the agent's terminal and back.
func BenchmarkEcho(b *testing.B) {
	c := connect(b)
	ct, in := raw(b, c)
	for b.Loop() {
		if _, err := ct.Write([]byte("k")); err != nil {
			b.Fatal(err)
		}
		if _, err := in.ReadByte(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOutput measures how fast a program's output arrives.
func BenchmarkOutput(b *testing.B) {
	c := connect(b)
	b.SetBytes(16 << 20)
	for b.Loop() {
		b.StopTimer()
		ct := start(b, c, nil, "sh", "-c", "stty raw -echo; printf ready; read x; head -c 16777216 /dev/zero")
		in := bufio.NewReaderSize(ct, 1<<16)
		readUntil(b, in, "ready")
		b.StartTimer()
		if _, err := ct.Write([]byte("\n")); err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, in); err != nil || n != 16<<20 {
			b.Fatalf("%d bytes, %v", n, err)
		}
	}
}
