package bridge

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inherited is the descriptor of the first file that a child inherits.
const inherited = 3

// Run replaces this process, the main process of a container, by the program argv with the
// environment env. Before that, it binds the loopback address listen and starts a child process
// that serves it: serve is a command line of the bridge, which inherits the socket as descriptor 3.
// Run returns only when it fails.
//
// If the engine has not set the size of the terminal yet, Run waits for that before it starts the
// program.
func Run(listen string, serve, argv, env []string) error {
	if err := start(listen, serve); err != nil {
		return fmt.Errorf("start the model proxy: %w", err)
	}
	awaitSize(os.Stdin)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	return fmt.Errorf("start %s: %w", path, unix.Exec(path, argv, env))
}

// start binds the address and starts the child that serves it. The child has its own process
// session, so that Ctrl-C in the tab does not reach it, and no output, because that would appear on
// the agent's terminal.
func start(listen string, serve []string) error {
	listener, err := net.Listen("tcp4", listen) //nolint:noctx // binding a number does not wait
	if err != nil {
		return err
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer file.Close()
	child := exec.Command(serve[0], serve[1:]...) //nolint:noctx // it outlives this function
	child.ExtraFiles = []*os.File{file}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child.Start()
}

// Inherited returns the listener that this process has inherited from Run.
func Inherited() (net.Listener, error) {
	file := os.NewFile(inherited, "listener")
	if file == nil {
		return nil, errors.New("no socket was inherited")
	}
	defer file.Close()
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("inherit the socket: %w", err)
	}
	return listener, nil
}

// How often and for how long a terminal's size is waited for.
const (
	sizeEvery    = 5 * time.Millisecond
	sizePatience = 2 * time.Second
)

// awaitSize waits until the terminal has a size. It returns at once if there is no terminal.
func awaitSize(terminal *os.File) {
	for begin := time.Now(); time.Since(begin) < sizePatience; <-time.After(sizeEvery) {
		size, err := unix.IoctlGetWinsize(int(terminal.Fd()), unix.TIOCGWINSZ)
		if err != nil || size.Col > 0 && size.Row > 0 {
			return
		}
	}
}
