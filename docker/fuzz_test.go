package docker

import (
	"bufio"
	"context"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

func shell(ctx context.Context, script string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", script)
}

// Whatever the engine answers, only a switch of protocols is an acceptance,
// and a refusal is one line.
func FuzzHandshake(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\nbytes",
		"HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 404 Not Found\r\nContent-Length: 40\r\n\r\n{\"message\":\"No such container: x\\u001b[0m\"}",
		"HTTP/1.1 409 Conflict\r\n\r\n{\"message\":\"a\nb\"}", "HTTP/1.1 500 \r\n\r\n\xff\xfe", "", "junk",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		err := judgeAnswer(bufio.NewReader(strings.NewReader(answer)))
		if err == nil && !strings.Contains(answer, "101") && !strings.Contains(answer, "200") {
			t.Errorf("%q is accepted", answer)
		}
		if err != nil && strings.Contains(engineMessage(answer), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	})
}

// The engine's build output is not trusted either, because programs that a Dockerfile
// runs can print anything.
func FuzzBuildOutput(f *testing.F) {
	f.Add([]byte("{\"stream\":\"Step 1/2 : FROM x\\n\"}\r\n{\"stream\":\" ---> 0123456789ab\\n\"}\n"), 3)
	f.Add([]byte("{\"error\":\"no\\n\\u001b]0;x\\u0007\",\"errorDetail\":{}}\n"), 1)
	f.Add([]byte("{\"status\":\"Pulling\",\"id\":\"x\",\"progress\":\"[=>]\"}\nnot json\n"), 7)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		said := []string{}
		whole := &buildOutput{report: newReporter(BuildOptions{OnProgress: func(p Progress) { said = append(said, p.Detail) }}, 1)}
		_, _ = whole.Write(data)
		for _, s := range said {
			if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(s) {
				t.Errorf("control characters in %q", s)
			}
		}
		// The result does not depend on how the stream is split.
		parts := &buildOutput{report: newReporter(BuildOptions{}, 1)}
		if cut < 0 {
			cut = -cut
		}
		cut %= len(data) + 1
		_, _ = parts.Write(data[:cut])
		_, _ = parts.Write(data[cut:])
		if parts.failure != whole.failure || strings.Join(parts.layers, " ") != strings.Join(whole.layers, " ") {
			t.Errorf("cut at %d: %q %q, whole: %q %q", cut, parts.failure, parts.layers, whole.failure, whole.layers)
		}
	})
}

func FuzzParseContext(f *testing.F) {
	f.Add(`{"Name":"c","Endpoints":{"docker":{"Host":"unix:///x","SkipTLSVerify":true}}}`)
	f.Add(`{"Name":"c","Endpoints":{"docker":[]}}`)
	f.Fuzz(func(t *testing.T, meta string) {
		e, err := parseContext([]byte(meta), "c", "/nonesuch")
		if err == nil && e.Address == "" {
			t.Error("an endpoint without an address")
		}
	})
}

func FuzzAptTargets(f *testing.F) {
	suite := "trixie" // a word of the product's own Dockerfile, never the machine's
	f.Add("http://a/\ttrixie\ttrixie\tDebian\tmain\t$(SOURCESENTRY)\n")
	f.Add("http://a/\tbookworm\tbookworm\tDebian\tmain\t\n")
	f.Fuzz(func(t *testing.T, text string) {
		keys := func(entry string) string {
			return strings.Join(append(keysOfLine(text, len(entry)), keysOfParagraph(text, len(entry))...), ",")
		}
		for _, line := range (aptSettings{targets: parseTargets(text, keys)}).sources(suite) {
			if strings.ContainsAny(line, "\n\t") || !strings.HasPrefix(line, "deb ") {
				t.Errorf("%q", line)
			}
		}
	})
}

func FuzzDockerfile(f *testing.F) {
	for _, i := range Images() {
		f.Add(string(i.files["Dockerfile"]))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := ImageSpec{Name: "x", Args: map[string]string{}}
		if s.parse(text) == nil && (s.Parent == "") == (s.rootfs.suite == "") {
			t.Error("accepted without exactly one base")
		}
	})
}
