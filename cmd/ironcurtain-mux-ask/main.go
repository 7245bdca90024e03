// Command ironcurtain-mux-ask is the part of ironcurtain-mux that needs the providers'
// libraries: it asks a model one question for the host, or runs the built-in agent in a process
// of its own. Only ironcurtain-mux starts it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/helper"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == builtin.Command {
		if err := builtinAgent(); err != nil {
			fmt.Fprintf(os.Stderr, "the built-in agent has ended: %v\r\n", err)
			os.Exit(1)
		}
		return
	}
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
