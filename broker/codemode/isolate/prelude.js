// The globals that a program finds. The prelude takes what it uses of the language before the program
// runs, so a program that changes the language's objects harms only itself.
(function () {
  'use strict';
  const host = globalThis.__host;
  delete globalThis.__host;
  const { stringify, parse } = JSON, { apply, construct } = Reflect, { create, freeze, defineProperty } = Object;
  const P = Promise, then = Promise.prototype.then, Str = String, Err = Error, Type = TypeError, Range = RangeError;
  const { imul } = Math, lower = String.prototype.toLowerCase, split = String.prototype.split;
  const includes = String.prototype.includes;
  const most = 8, mostBytes = 256 * 1024; // calls under way; an argument
  const open = create(null), queue = create(null);
  let last = 0, flying = 0, first = 0, behind = 0, now = 0;

  class ToolError extends Err {
    constructor(decision, rule, message) {
      super(message);
      defineProperty(this, 'stack', { value: '' }); // it would only show the prelude
      defineProperty(this, 'decision', { value: decision, enumerable: true });
      defineProperty(this, 'rule', { value: rule, enumerable: true });
    }
  }
  defineProperty(ToolError.prototype, 'name', { value: 'ToolError' });

  // ask sends a call, or queues it while the most that are allowed are under way. place is the engine's
  // text for where the program makes the call.
  function ask(kind, what, text, place) {
    return new P((resolve, reject) => {
      const id = ++last;
      open[id] = { __proto__: null, resolve, reject };
      if (flying < most) send(kind, id, what, text, place);
      else queue[behind++] = { __proto__: null, kind, id, what, text, place };
    });
  }
  function send(kind, id, what, text, place) {
    flying++;
    host(kind, id, what, text, place);
  }
  function tool(index) {
    return freeze(function (args) {
      const place = new Err().stack; // it begins with this function
      return new P(resolve => {
        const text = args === undefined ? '{}' : stringify(args);
        if (typeof text !== 'string' || text[0] !== '{') throw new Type('a tool takes one object');
        if (text.length > mostBytes) throw new Range('the arguments are longer than 256 KiB');
        resolve(ask('call', index, text, place));
      });
    });
  }
  function deliver(id, ok, text, decision, rule, time) {
    const waiter = open[id];
    if (!waiter) return;
    delete open[id];
    flying--;
    if (time > now) now = time;
    if (first < behind) {
      const next = queue[first];
      delete queue[first++];
      send(next.kind, next.id, next.what, next.text, next.place);
    }
    if (ok) waiter.resolve(parse(text));
    else waiter.reject(new ToolError(decision, rule, text));
  }

  function describe(e) {
    try {
      if (e instanceof Err) return Str(e.name) + ': ' + Str(e.message) + (e.stack ? '\n' + Str(e.stack) : '');
      const text = typeof e === 'string' ? e : stringify(e);
      return text === undefined ? Str(e) : text;
    } catch { return 'a value that cannot be described'; }
  }
  const line = freeze(function (...all) {
    let text = '';
    for (let i = 0; i < all.length; i++) text += (i ? ' ' : '') + describe(all[i]);
    host('log', 0, 0, text, '');
  });

  function chance(seed) {
    let s = seed >>> 0;
    return function random() {
      s = (s + 0x6D2B79F5) >>> 0;
      let t = imul(s ^ (s >>> 15), 1 | s);
      t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }
  function clock() {
    const Real = Date;
    const Fixed = new Proxy(Real, {
      construct: (_, args, target) => construct(Real, args.length ? args : [now], target === Fixed ? Real : target),
      apply: () => Str(new Real(now)),
    });
    Real.now = function () { return now; };
    Real.prototype.constructor = Fixed;
    globalThis.Date = Fixed;
  }

  // setup gives the program its tools. Each is [group, name, whole name, one line, stub].
  function setup(list, state, seed, time) {
    for (const gone of ['std', 'os', 'bjson', 'print', 'scriptArgs', 'performance', 'SharedArrayBuffer', 'Atomics',
      'WeakRef', 'FinalizationRegistry', 'gc', 'navigator', 'loadScript', 'Worker', 'queueMicrotask']) delete globalThis[gone];
    now = time;
    list = parse(list);
    const groups = create(null);
    for (let i = 0; i < list.length; i++) {
      const group = groups[list[i][0]] ??= create(null);
      defineProperty(group, list[i][1], { value: tool(i), enumerable: true });
    }
    const fixed = (name, value) => defineProperty(globalThis, name, { value, enumerable: true });
    for (const name in groups) fixed(name, freeze(groups[name]));
    fixed('tools', freeze({
      __proto__: null,
      find(words) {
        const wanted = apply(split, apply(lower, Str(words), []), [' ']);
        const found = [];
        for (let i = 0; i < list.length; i++) {
          const text = apply(lower, list[i][2] + ' ' + list[i][3], []);
          let all = true;
          for (let k = 0; k < wanted.length; k++) all = all && apply(includes, text, [wanted[k]]);
          if (all) defineProperty(found, found.length, { value: list[i][3], enumerable: true, writable: true, configurable: true });
        }
        return found;
      },
      declare(name) {
        for (let i = 0; i < list.length; i++) if (list[i][2] === name) return list[i][4];
        throw new Range('there is no tool ' + Str(name));
      },
    }));
    fixed('console', freeze({ __proto__: null, log: line, info: line, warn: line, error: line, debug: line }));
    fixed('ToolError', ToolError);
    fixed('sleep', freeze(ms => ask('sleep', 0, Str(+ms), '')));
    globalThis.state = parse(state);
    Math.random = chance(seed);
    clock();
  }

  // watch reports how the promise p ends, which is the program.
  function watch(p) {
    apply(then, p, [v => {
      let text, kept;
      try {
        text = stringify(v);
        kept = stringify(globalThis.state);
      } catch (e) { return host('fail', 0, 0, 'the value or the state cannot be written as JSON: ' + describe(e), ''); }
      if (typeof kept !== 'string' || kept[0] !== '{') return host('fail', 0, 0, 'TypeError: state is no longer an object', '');
      host('state', 0, 0, kept, '');
      host('done', 0, 0, text === undefined ? 'null' : text, '');
    }, e => {
      let kept;
      try { kept = stringify(globalThis.state); } catch { kept = ''; }
      if (typeof kept === 'string' && kept[0] === '{') host('state', 0, 0, kept, '');
      host('fail', 0, 0, describe(e), '');
    }]);
  }
  return { __proto__: null, setup, deliver, watch };
})()
