package audit

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Records that are brought in every way, by one and by many, form one chain.
func TestCommittedRecordsShareTheChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{})
	ways := []func(context.Context, Record) error{l.Commit, l.Append, l.Post, l.Commit}
	const each = 30
	bring := func(way int) {
		for i := range each {
			if err := ways[way%len(ways)](context.Background(), record(i)); err != nil {
				t.Error(err)
			}
		}
	}
	bring(0)
	var group sync.WaitGroup
	for way := range 12 {
		group.Go(func() { bring(way) })
	}
	group.Wait()
	bring(0)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(path); err != nil || r.Records != 14*each+1 || !r.Closed {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := l.Commit(context.Background(), record(0)); !errors.Is(err, ErrClosed) {
		t.Fatalf("after the end: %v", err)
	}
}

// What nobody waited for stands before what was committed after it.
func TestCommitKeepsTheOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{})
	for range 20 {
		if err := l.Post(context.Background(), ended("before")); err != nil {
			t.Fatal(err)
		}
		if err := l.Commit(context.Background(), allowed("after")); err != nil {
			t.Fatal(err)
		}
	}
	var calls []string
	if err := Read(path, func(l Line) error { calls = append(calls, l.Call); return nil }); err != nil {
		t.Fatal(err)
	}
	for i, call := range calls {
		if want := []string{"before", "after"}[i%2]; call != want || len(calls) != 40 {
			t.Fatalf("line %d of %d is %q, want %q", i, len(calls), call, want)
		}
	}
}

func TestCommitToAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	fault := &faulty{}
	l := open(t, path, Options{FS: fault})
	fault.set(failing("write", 30, errFull))
	if err := l.Commit(context.Background(), record(1)); !errors.Is(err, errFull.Err) {
		t.Fatal(err)
	}
	fault.set(nil)
	if err := l.Commit(context.Background(), record(2)); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(path); err != nil || r.Records != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// A disk that does not answer holds the one who writes, and nobody else.
func TestCommitThatHangsHoldsNobodyElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	fault := &faulty{}
	l := open(t, path, Options{FS: fault, Deadline: 30 * time.Millisecond})
	hangs, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	fault.set(func(_ string, size int) (int, error) {
		once.Do(func() { close(hangs); <-release })
		return size, nil
	})
	first := make(chan error, 1)
	go func() { first <- l.Commit(context.Background(), record(0)) }()
	<-hangs
	for _, way := range []func(context.Context, Record) error{l.Commit, l.Append} {
		if err := way(context.Background(), record(1)); err == nil {
			t.Fatal("a record that is not on the disk was accepted")
		}
	}
	close(release)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(path); err != nil || r.Records != 2 {
		t.Fatalf("%+v, %v: those who were refused left something", r, err)
	}
}
