// Command ironcurtain-mux-ask asks a model one question for ironcurtain-mux, which
// runs it; it is of no use by itself.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/helper"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := helper.Serve(ctx, os.Stdin, os.Stdout, ask); err != nil {
		fmt.Fprintln(os.Stderr, "ironcurtain-mux-ask:", err)
		os.Exit(1)
	}
}

func ask(ctx context.Context, r helper.Request) (string, error) {
	m, err := provider.New(provider.Options{Provider: r.Provider, Model: r.Model, Key: r.Key, BaseURL: r.BaseURL})
	if err != nil {
		return "", err
	}
	defer m.Close()
	return m.Ask(ctx, r.Question)
}
