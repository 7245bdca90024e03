package gomod

import (
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// cacheEntries bounds the files of checksum databases in memory: 2 MiB of tiles.
const cacheEntries = 256

// cache keeps files of checksum databases, so that requests do not read the same tiles from the
// disk again and again. The zero value is ready.
type cache struct {
	mu    sync.Mutex
	files map[string]*registry.Document
}

func (c *cache) get(file string) *registry.Document {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files[file]
}

// put keeps a file. If there are too many, it forgets some other one.
func (c *cache) put(file string, doc *registry.Document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = map[string]*registry.Document{}
	}
	for other := range c.files {
		if len(c.files) < cacheEntries {
			break
		}
		delete(c.files, other)
	}
	c.files[file] = doc
}
