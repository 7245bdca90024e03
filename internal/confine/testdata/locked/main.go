// Command locked locks itself and makes one system call, whose number and whose first
// arguments are its own arguments. It prints what the call returned. The variable HANDED makes
// it a process that takes descriptors.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/confine"
)

func main() {
	var n [4]uintptr
	for i, text := range os.Args[1:] {
		v, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			panic(err)
		}
		n[i] = uintptr(v)
	}
	time.AfterFunc(time.Hour, func() {}).Stop() // the runtime makes its poller while it can
	if err := confine.Lock(confine.Limits{Memory: 64 << 20, Seconds: 5, Open: 8, Handed: os.Getenv("HANDED") != ""}); err != nil {
		fmt.Println("not locked:", err)
		os.Exit(3)
	}
	done := make(chan string)
	go func() { // the lock is on every thread
		runtime.LockOSThread()
		_, _, errno := unix.Syscall(n[0], n[1], n[2], n[3])
		done <- strconv.Itoa(int(errno))
	}()
	fmt.Println("errno", <-done)
}
