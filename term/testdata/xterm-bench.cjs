// Writes a file to an @xterm/headless terminal, three times, and prints the
// seconds of CPU that the best run took. Called by the benchmarks:
//   node xterm-bench.cjs MODULE-DIRECTORY FILE COLS ROWS
const fs = require('fs');
const path = require('path');

const [modules, file, cols, rows] = process.argv.slice(2);
const { Terminal } = require(path.resolve(modules, '@xterm/headless'));
const input = fs.readFileSync(file);

async function run() {
  const terminal = new Terminal({ cols: +cols, rows: +rows, scrollback: 10000, allowProposedApi: true });
  const start = process.cpuUsage();
  for (let at = 0; at < input.length; at += 4096) {
    terminal.write(input.subarray(at, at + 4096));
    if (at % (1 << 18) === 0) await new Promise((done) => terminal.write('', done));
  }
  await new Promise((done) => terminal.write('', done));
  const used = process.cpuUsage(start);
  terminal.dispose();
  return (used.user + used.system) / 1e6;
}

(async () => {
  let best = Infinity;
  for (let i = 0; i < 3; i++) best = Math.min(best, await run());
  console.log(best);
})();
