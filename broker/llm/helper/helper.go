// Package helper asks a model through a separate program, which contains the
// providers' libraries. The libraries are large: they would more than triple the size
// of the multiplexer, for a question now and then.
//
// The program reads one request, with the key, from its standard input and writes one
// reply. It inherits only the environment variables that it needs to reach the network.
package helper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/beside"
)

// Program is the name of the program.
const Program = "ironcurtain-mux-ask"

// maxMessage bounds a request and a reply, in bytes.
const maxMessage = 768 << 10

// Request is what the program is asked.
type Request struct {
	Provider string       `json:"provider"`
	Model    string       `json:"model"`
	Key      string       `json:"key"`
	BaseURL  string       `json:"baseUrl,omitempty"`
	Question llm.Question `json:"question"`
}

// Reply is what it answers. Exactly one of Text and Error counts.
type Reply struct {
	Text      string `json:"text,omitempty"`
	Error     string `json:"error,omitempty"`
	Transient bool   `json:"transient,omitempty"` // asking again soon could help
	Cut       bool   `json:"cut,omitempty"`       // the error is llm.ErrCut
}

// inherited are the variables that the program needs to reach the network.
var inherited = []string{
	"PATH", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// Model asks through the program.
type Model struct {
	path    string
	request Request
}

var _ llm.Model = (*Model)(nil)

// Find returns the path of the program, which lies beside the running one.
func Find() (string, error) { return beside.Find(Program) }

// New makes a model that is asked through the program at path.
func New(path string, r Request) *Model { return &Model{path, r} }

// Name is provider and model.
func (m *Model) Name() string { return m.request.Provider + "/" + m.request.Model }

// Close does nothing: no program outlives its question.
func (m *Model) Close() {}

// transientError is an error of the program's after which asking again could help.
type transientError struct{ error }

// Temporary is what llm.Transient looks for.
func (transientError) Temporary() bool { return true }

// Ask runs the program once.
func (m *Model) Ask(ctx context.Context, q llm.Question) (string, error) {
	r := m.request
	r.Question = q
	input, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, m.path)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = "/", bytes.NewReader(input), time.Second
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	data, readErr := io.ReadAll(io.LimitReader(out, maxMessage+1))
	if len(data) > maxMessage {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was stopped on purpose
		return "", llm.ErrTooLarge
	}
	err = errors.Join(readErr, cmd.Wait())
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s failed: %w", Program, err)
	}
	return decode(data)
}

func decode(data []byte) (string, error) {
	var r Reply
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || strings.TrimSpace(string(data[d.InputOffset():])) != "" {
		return "", llm.ErrFormat
	}
	switch {
	case r.Cut:
		return "", llm.ErrCut
	case r.Error != "" && r.Transient:
		return "", transientError{errors.New(r.Error)}
	case r.Error != "":
		return "", errors.New(r.Error)
	}
	return r.Text, nil
}

// Serve is the program: it reads a request, has ask answer it, and writes the
// reply.
func Serve(ctx context.Context, in io.Reader, out io.Writer, ask func(context.Context, Request) (string, error)) error {
	data, err := io.ReadAll(io.LimitReader(in, maxMessage+1))
	if err != nil || len(data) > maxMessage {
		return errors.Join(err, errors.New("the request cannot be read"))
	}
	var r Request
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return errors.New("the request is malformed") // it may hold a key
	}
	text, err := ask(ctx, r)
	reply := Reply{Text: text}
	if err != nil {
		reply = Reply{Error: err.Error(), Transient: llm.Transient(err), Cut: errors.Is(err, llm.ErrCut)}
	}
	return json.NewEncoder(out).Encode(reply)
}
