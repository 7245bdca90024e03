package outer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// watchdog gives the terminal back when this process could not: when a goroutine
// panicked that nobody guards, when it was killed outright. It is a shell that
// waits at a pipe whose other end only this process holds. A word on the pipe
// means that all is well; its end without one, that nobody is left to restore
// anything.
type watchdog struct {
	alive *os.File // the pipe's writing end
	shell *exec.Cmd
}

// watchdogScript reads the pipe at descriptor 3: which directory there is to remove
// at a bad end, and that all is well. Signals meant for the program, from its
// terminal or its group, must not take the watchdog along.
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

// farewell is what a person reads after an end that could not speak for itself.
const farewell = "ironcurtain-mux ended without a word; its terminal has been restored. " +
	"Its agents run on: start it again to take them back, or end them with 'ironcurtain-mux gc'."

// startWatchdog starts the watchdog for a terminal that is still as it was found.
func startWatchdog(in, out *os.File) (*watchdog, error) {
	stty := standardProgram("stty")
	ask := exec.Command(stty, "-g") //nolint:noctx // it answers at once
	ask.Stdin = in
	found, err := ask.Output()
	if err != nil {
		return nil, fmt.Errorf("remember its modes: %w", err)
	}
	waiting, alive, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("watch over it: %w", err)
	}
	defer waiting.Close()
	shell := exec.Command(standardProgram("sh"), "-c", watchdogScript, "watchdog", //nolint:noctx // it must outlive this process
		strings.TrimSpace(string(found)), cancel+leave, farewell, stty)
	shell.Stdin, shell.Stdout, shell.Stderr = in, out, out
	shell.ExtraFiles = []*os.File{waiting}
	if err := shell.Start(); err != nil {
		_ = alive.Close()
		return nil, fmt.Errorf("watch over it: %w", err)
	}
	return &watchdog{alive: alive, shell: shell}, nil
}

// standardProgram finds a program of the base system, also where PATH has been
// cut down. The name itself is returned when it is nowhere: starting it says so.
func standardProgram(name string) string {
	for _, dir := range []string{"/usr/bin", "/bin"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return name
}

// dismiss tells the watchdog that the terminal has been restored, and waits until
// it has gone.
func (k *watchdog) dismiss() error {
	_, err := k.alive.WriteString("restored\n")
	_ = k.alive.Close()
	if wait := k.shell.Wait(); err == nil {
		err = wait
	}
	return err
}

// abandon ends the watchdog of a terminal that was never taken.
func (k *watchdog) abandon() {
	_ = k.shell.Process.Signal(syscall.SIGKILL)
	_ = k.alive.Close()
	_ = k.shell.Wait()
}

// guard has the watchdog remove a directory when this process cannot. At most one
// is guarded.
func (k *watchdog) guard(dir string) error {
	if strings.ContainsAny(dir, "\n\\") || dir != strings.TrimSpace(dir) {
		return fmt.Errorf("the path %q cannot be passed on", dir)
	}
	_, err := k.alive.WriteString("remove " + dir + "\n")
	return err
}

// release ends what guard began.
func (k *watchdog) release() error {
	_, err := k.alive.WriteString("removed\n")
	return err
}
