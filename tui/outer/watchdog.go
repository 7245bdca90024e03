package outer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// watchdog restores the terminal when this process cannot, because it was killed or an
// unguarded goroutine panicked. It is a shell that reads a pipe whose other end only
// this process has. The word "restored" on the pipe means that the terminal has been
// restored. If the pipe closes without it, this process has died and the watchdog
// restores the terminal.
type watchdog struct {
	alive *os.File // the pipe's writing end
	shell *exec.Cmd
}

// watchdogScript reads the pipe at descriptor 3: which directory to remove if this
// process dies, and that the terminal has been restored. It ignores signals that the
// terminal or the process group sends to the program.
const watchdogScript = `trap '' HUP INT QUIT TERM TSTP TTIN TTOU
dir=
while read -r word rest <&3; do
	case $word in
	restored) exit ;;
	remove) dir=$rest ;;
	removed) dir= ;;
	esac
done
[ -z "$dir" ] || rm -rf -- "$dir"
"$4" "$1"
printf '%s' "$2"
printf '%s\n' "$3" >&2`

// deathMessage is what the watchdog prints after this process has died.
const deathMessage = "ironcurtain-mux ended unexpectedly; its terminal has been restored. " +
	"Its agents still run: start it again to take them back, or end them with 'ironcurtain-mux gc'."

// startWatchdog starts the watchdog. The terminal must still be in its original state.
func startWatchdog(in, out *os.File) (*watchdog, error) {
	stty := standardProgram("stty")
	ask := exec.Command(stty, "-g") //nolint:noctx // stty ends at once
	ask.Stdin = in
	found, err := ask.Output()
	if err != nil {
		return nil, fmt.Errorf("read the terminal's modes with stty: %w", err)
	}
	waiting, alive, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	defer waiting.Close()
	shell := exec.Command(standardProgram("sh"), "-c", watchdogScript, "watchdog", //nolint:noctx // it must outlive this process
		strings.TrimSpace(string(found)), cancel+leave, deathMessage, stty)
	shell.Stdin, shell.Stdout, shell.Stderr = in, out, out
	shell.ExtraFiles = []*os.File{waiting}
	if err := shell.Start(); err != nil {
		_ = alive.Close()
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	return &watchdog{alive: alive, shell: shell}, nil
}

// standardProgram returns the path of a program of the base system, whatever PATH is. If
// it does not find the program, it returns the name, and starting it gives the error.
func standardProgram(name string) string {
	for _, dir := range []string{"/usr/bin", "/bin"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return name
}

// stop tells the watchdog that the terminal has been restored, and waits for its end.
func (k *watchdog) stop() error {
	if k == nil {
		return nil
	}
	_, err := k.alive.WriteString("restored\n")
	_ = k.alive.Close()
	if wait := k.shell.Wait(); err == nil {
		err = wait
	}
	return err
}

// kill ends the watchdog of a terminal that Open has not changed.
func (k *watchdog) kill() {
	if k == nil {
		return
	}
	_ = k.shell.Process.Signal(syscall.SIGKILL)
	_ = k.alive.Close()
	_ = k.shell.Wait()
}

// guardDir makes the watchdog remove a directory if this process dies. There can be only
// one such directory.
func (k *watchdog) guardDir(dir string) error {
	if k == nil {
		return nil
	}
	if strings.ContainsAny(dir, "\n\\") || dir != strings.TrimSpace(dir) {
		return fmt.Errorf("the path %q cannot be written to the watchdog", dir)
	}
	_, err := k.alive.WriteString("remove " + dir + "\n")
	return err
}

// unguardDir undoes guardDir.
func (k *watchdog) unguardDir() error {
	if k == nil {
		return nil
	}
	_, err := k.alive.WriteString("removed\n")
	return err
}
