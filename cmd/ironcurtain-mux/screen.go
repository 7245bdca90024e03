package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// screenFlags are the flags of the screen command.
type screenFlags struct {
	cols, rows, chunk, scrollback int
	resizes                       []string
	engine, format                string
}

// screenCommand runs a byte stream through the terminal engine and prints the final screen.
func screenCommand() *cobra.Command {
	var flags screenFlags
	cmd := &cobra.Command{
		Use:   "screen",
		Short: "Show the final screen of a recorded byte stream",
		Long: `Read from standard input what a program wrote to its terminal, run it through the
terminal engine, and print the final screen.`,
		Example: `  ironcurtain-mux screen --format text < recording.raw
  ironcurtain-mux screen --cols 80 --rows 24 --format svg < recording.raw > screen.svg
  ironcurtain-mux screen --resize 4096:100x30 --resize 9000:60x20 < recording.raw
  printf '\033[c' | ironcurtain-mux screen --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runScreen(flags, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVar(&flags.cols, "cols", 80, "columns of the screen")
	f.IntVar(&flags.rows, "rows", 24, "rows of the screen")
	f.IntVar(&flags.chunk, "chunk", 0, "write the bytes in pieces of this size; 0 means as they are read")
	f.IntVar(&flags.scrollback, "scrollback", 10_000, "lines of scrollback to keep; 0 means none")
	f.StringArrayVar(&flags.resizes, "resize", nil, "change the size of the screen after OFFSET bytes: OFFSET:COLSxROWS; may be repeated")
	f.StringVar(&flags.engine, "engine", "native", "where cells are stored: native or vt10x")
	f.StringVar(&flags.format, "format", "json", "what to print: json, text, ansi or svg")
	return cmd
}

func runScreen(flags screenFlags, in io.Reader, out io.Writer) error {
	if flags.cols < 1 || flags.rows < 1 || flags.chunk < 0 || flags.scrollback < 0 {
		return cli.Usagef("--cols and --rows must be at least 1, --chunk and --scrollback at least 0")
	}
	if !slices.Contains([]string{"native", "vt10x"}, flags.engine) {
		return cli.Usagef("unknown engine %q: use native or vt10x", flags.engine)
	}
	if !slices.Contains([]string{"json", "text", "ansi", "svg"}, flags.format) {
		return cli.Usagef("unknown format %q: use json, text, ansi or svg", flags.format)
	}
	resizes, err := parseResizes(flags.resizes)
	if err != nil {
		return err
	}
	options := term.Options{Cols: flags.cols, Rows: flags.rows, Engine: flags.engine, Scrollback: flags.scrollback}
	if options.Scrollback == 0 {
		options.Scrollback = -1
	}
	s, err := term.NewScreen(options)
	if err != nil {
		return cli.Fail("screen", err, "")
	}
	defer s.Close()
	replies, err := playStream(s, in, flags.chunk, resizes)
	if err != nil {
		return cli.Fail("screen", err, "the bytes are read from standard input")
	}
	switch flags.format {
	case "text":
		err = s.DumpText(out)
	case "ansi":
		err = s.DumpANSI(out)
	case "svg":
		err = s.DumpSVG(out)
	default:
		err = s.DumpJSON(out, replies)
	}
	return cli.Fail("screen", err, "")
}

// screenResize changes the size after offset bytes.
type screenResize struct {
	offset     int64
	cols, rows int
}

// parseResizes reads OFFSET:COLSxROWS and orders them by offset.
func parseResizes(specs []string) ([]screenResize, error) {
	var resizes []screenResize
	for _, spec := range specs {
		at, size, ok1 := strings.Cut(spec, ":")
		cols, rows, ok2 := strings.Cut(size, "x")
		offset, err1 := strconv.ParseInt(at, 10, 64)
		c, err2 := strconv.Atoi(cols)
		r, err3 := strconv.Atoi(rows)
		if !ok1 || !ok2 || errors.Join(err1, err2, err3) != nil || offset < 0 || c < 1 || r < 1 {
			return nil, cli.Usagef("wrong --resize %q: write OFFSET:COLSxROWS, for example 4096:100x30", spec)
		}
		resizes = append(resizes, screenResize{offset, c, r})
	}
	slices.SortStableFunc(resizes, func(a, b screenResize) int { return int(min(1, max(-1, a.offset-b.offset))) })
	return resizes, nil
}

// playStream writes the stream to the screen, resizes the screen at the given offsets, and
// returns the screen's replies.
func playStream(s *term.Screen, in io.Reader, chunk int, resizes []screenResize) ([]byte, error) {
	size := 64 << 10
	if chunk > 0 {
		size = chunk
	}
	buffer := make([]byte, size)
	var replies []byte
	var written int64
	for {
		n := len(buffer)
		if len(resizes) > 0 {
			n = int(min(int64(n), resizes[0].offset-written))
		}
		if n == 0 {
			s.Resize(resizes[0].cols, resizes[0].rows)
			resizes = resizes[1:]
			continue
		}
		n, err := io.ReadFull(in, buffer[:n])
		written += int64(n)
		if _, err := s.Write(buffer[:n]); err != nil {
			return nil, err
		}
		replies = append(replies, s.TakeReplies()...)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			for _, r := range resizes { // with an offset at or beyond the end
				s.Resize(r.cols, r.rows)
			}
			return append(replies, s.TakeReplies()...), nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the stream: %w", err)
		}
	}
}
