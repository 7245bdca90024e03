package helper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/helper"
)

// The test's own program stands in for the helper: it does what the model's name
// says.
func TestMain(m *testing.M) {
	if len(os.Args) == 1 { // go test always gives arguments, the model never does
		if err := helper.Serve(context.Background(), os.Stdin, os.Stdout, answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func answer(_ context.Context, r helper.Request) (string, error) {
	switch r.Model {
	case "environment":
		return strings.Join(os.Environ(), " "), nil
	case "busy":
		return "", &llm.StatusError{Code: 503}
	case "cut":
		return "", llm.ErrCut
	case "refused":
		return "", &llm.StatusError{Code: 401}
	case "large":
		_, _ = io.WriteString(os.Stdout, strings.Repeat("x", 1<<20))
	case "broken":
		os.Exit(3)
	case "chatty":
		_, _ = io.WriteString(os.Stdout, "warning: something\n")
	case "hangs":
		select {}
	}
	return r.Key + " " + r.Question.User, nil
}

func model(t *testing.T, name string) *helper.Model {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return helper.New(self, helper.Request{Provider: "anthropic", Model: name, Key: "sk-secret"})
}

func TestAskingThroughTheProgram(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "http://elsewhere.example")
	for _, c := range []struct {
		model, text string
		err         error
		transient   bool
	}{
		{"plain", "sk-secret question", nil, false},
		{"busy", "", nil, true},
		{"refused", "", nil, false},
		{"cut", "", llm.ErrCut, false},
		{"large", "", llm.ErrTooLarge, false},
		{"broken", "", nil, false},
		{"chatty", "", llm.ErrFormat, false},
	} {
		t.Run(c.model, func(t *testing.T) {
			got, err := model(t, c.model).Ask(t.Context(), llm.Question{User: "question"})
			if got != c.text || (err == nil) != (c.text != "") || c.err != nil && !errors.Is(err, c.err) || llm.Transient(err) != c.transient {
				t.Errorf("%s: %q, %v", c.model, got, err)
			}
			if err != nil && strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("%s: the error tells the key: %v", c.model, err)
			}
		})
	}
	if got, err := model(t, "environment").Ask(t.Context(), llm.Question{}); err != nil || strings.Contains(got, "elsewhere") || strings.Contains(got, "secret") {
		t.Errorf("environment %q, %v", got, err)
	}
}

// A program that hangs is ended with the time for it.
func TestAProgramThatHangs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := model(t, "hangs").Ask(ctx, llm.Question{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestMalformedRequests(t *testing.T) {
	for _, in := range []string{"", "{", `{"provider":"x","more":1}`, strings.Repeat("x", 1<<20)} {
		t.Run(in, func(t *testing.T) {
			if err := helper.Serve(t.Context(), strings.NewReader(in), io.Discard, answer); err == nil {
				t.Errorf("%.20q was served", in)
			}
		})
	}
}
