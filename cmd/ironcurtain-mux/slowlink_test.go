package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// slowLink is a far connection between a driver and its program: what goes in
// comes out late and, if rate is set, only so many bytes a second; it takes what
// its buffer holds and then makes the sender wait.
type slowLink struct {
	delay  time.Duration
	rate   int // bytes a second; 0 for no limit
	buffer int // bytes
	sent   atomic.Int64
	line   chan parcel // sent, and not on its way yet
	way    chan parcel // on its way
	end    chan struct{}
}

// parcel is what travels together.
type parcel struct {
	at   time.Time
	data []byte
}

// parcelSize is how many bytes travel together.
const parcelSize = 256

func newSlowLink(delay time.Duration, rate, buffer int, deliver func([]byte)) *slowLink {
	l := &slowLink{
		delay: delay, rate: rate, buffer: buffer,
		line: make(chan parcel, buffer/parcelSize),
		way:  make(chan parcel, 4096),
		end:  make(chan struct{}),
	}
	go func() {
		defer close(l.way)
		free := time.Now() // when the line has passed on all so far
		for p := range l.line {
			if free.Before(p.at) {
				free = p.at
			}
			if rate > 0 {
				free = free.Add(time.Duration(len(p.data)) * time.Second / time.Duration(rate))
			}
			<-time.After(time.Until(free))
			l.way <- parcel{free.Add(delay), p.data}
		}
	}()
	go func() {
		defer close(l.end)
		for p := range l.way {
			<-time.After(time.Until(p.at))
			deliver(p.data)
		}
	}()
	return l
}

// put sends data.
func (l *slowLink) put(data []byte) {
	l.sent.Add(int64(len(data)))
	for len(data) > 0 {
		n := min(len(data), parcelSize)
		l.line <- parcel{time.Now(), bytes.Clone(data[:n])}
		data = data[n:]
	}
}

// close waits until everything has come out.
func (l *slowLink) close() { close(l.line); <-l.end }

// Over a link of 300 ms and 20 KB a second, a person can work beside an agent that
// writes without end: what is typed shows soon, because frames are left out
// instead of queued.
func TestSlowLink(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	allowLocalShell(t, home)
	d := driveOver(t, func(d *driver) {
		d.down = newSlowLink(150*time.Millisecond, 20_000, 256<<10, d.receive)
		d.up = newSlowLink(150*time.Millisecond, 0, 64<<10, d.input)
	}, home, 100, 30, "env", noEngine, "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux", "--agent", "local-shell")
	d.see(patience, "here>")
	d.send("\x01/new local-shell\r")
	d.inTab(2, "here>")
	d.send("\x01/split right\r\x1b2")
	d.until("both shells", patience, func(s string) bool { return strings.Count(s, "here>") == 2 })
	// Numbers that grow from a long one: every row of every frame is another.
	d.send("n=1000000000; while :; do n=$((n+7)); echo $n$n$n; done\r")
	d.until("the flood", patience, func(s string) bool { return strings.Count(s, "10000") > 20 })
	d.send("\x1b1")
	d.send("\x15")
	began, sent := time.Now(), d.down.sent.Load()
	var echoes []time.Duration
	for i := range 8 {
		word := fmt.Sprintf("key%d", i)
		start := time.Now()
		d.send(word)
		d.see(patience, word)
		echoes = append(echoes, time.Since(start))
	}
	rate := float64(d.down.sent.Load()-sent) / time.Since(began).Seconds()
	usual := median(echoes)
	t.Logf("echoes %v, %.0f bytes a second", echoes, rate)
	if usual > 2*time.Second { // about 0.5 s on an idle machine; 14 s when frames are queued
		t.Errorf("a key is echoed after %v", usual)
	}
	d.send("\x01/quit!\r")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
