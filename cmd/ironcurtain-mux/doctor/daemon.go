package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// daemonLimit is how long the daemon may take to answer.
const daemonLimit = 5 * time.Second

// checkDaemon checks that a running daemon answers, and that it runs this program.
func checkDaemon(ctx context.Context, p wiring.Paths) finding {
	ctx, cancel := context.WithTimeout(ctx, daemonLimit)
	defer cancel()
	w, err := running.Greet(ctx, p.Home)
	switch {
	case errors.Is(err, running.ErrNotRunning):
		return ok("none runs; 'ironcurtain-mux' starts one")
	case errors.Is(err, context.DeadlineExceeded):
		pid := running.Process(p.Home)
		return bad(fmt.Sprintf("if the machine is not just busy, run 'kill -9 %d'; 'ironcurtain-mux' then starts another one, which takes its agents back", pid),
			"process %d has the socket of the daemon and does not answer", pid)
	case err != nil:
		return bad(cli.RemedyOf(err, "run doctor as the user whose daemon it is"), "%s", cli.ReasonOf(err))
	}
	path, build := cli.ThisFile()
	return sameProgram(w, wire.Welcome{Version: cli.ThisBuild().Version, Program: path, Build: build})
}

// sameProgram compares the daemon's program with this one.
func sameProgram(daemon, this wire.Welcome) finding {
	const remedy = "the daemon still runs its old program: 'ironcurtain-mux upgrade' upgrades it to the program that is at its path now, and 'ironcurtain-mux stop' ends it"
	switch {
	case daemon.Version != this.Version:
		return warn(remedy, "process %d is version %s (%s), this program is %s (%s)", daemon.PID, daemon.Version, daemon.Program, this.Version, this.Program)
	case daemon.Build == "" || daemon.Build == this.Build:
		return ok("process %d answers, version %s", daemon.PID, daemon.Version)
	case cli.BuildOf(daemon.Program) != daemon.Build:
		return warn(remedy, "process %d answers, version %s; its program file %s was replaced or removed since it was started", daemon.PID, daemon.Version, daemon.Program)
	}
	return warn(remedy, "process %d answers, version %s; it is another program file, %s, than this one, %s", daemon.PID, daemon.Version, daemon.Program, this.Program)
}

// More than calmCrashes crashes of daemons within crashesIn are worth a warning.
const (
	calmCrashes = 2
	crashesIn   = 24 * time.Hour
)

// checkCrashes counts how often a daemon has found the agents of a killed daemon.
func checkCrashes(p wiring.Paths, now time.Time) finding {
	f, err := os.Open(running.TakenBackFile(p.Home))
	if errors.Is(err, fs.ErrNotExist) {
		return ok("no daemon was killed or has crashed")
	}
	if err != nil {
		return warn("make it readable", "%v", err)
	}
	defer f.Close()
	n, lines := 0, bufio.NewScanner(f)
	for lines.Scan() {
		if at, err := time.Parse(time.RFC3339, lines.Text()); err == nil && now.Sub(at) < crashesIn {
			n++
		}
	}
	if err := lines.Err(); err != nil {
		return warn("remove it", "%s: %v", f.Name(), err)
	}
	if n > calmCrashes {
		return warn("see the end of "+p.LogFile()+", and whether the machine had memory left", "a daemon was killed or has crashed %s within a day", text.Counted(n, "time"))
	}
	return ok("a daemon was killed or has crashed %s within a day", text.Counted(n, "time"))
}
