/** Hostile factors, each with the reason it must end with. `native_loop` ones use no fuel: only the backstop ends them. */

export interface AttackScript {
  readonly name: string
  /** Body of the factor, or with `is_module` the whole module. */
  readonly code: string
  readonly is_module?: boolean
  /** A reason, or the output in case of code that must be harmless. */
  readonly ends: string | { readonly output: unknown }
}

const HOLD = 'const held = [];'

export const attackScripts: readonly AttackScript[] = [
  // Memory.
  { name: 'holds typed arrays', code: `${HOLD} for (;;) held.push(new Float64Array(50000))`, ends: 'memory' },
  { name: 'holds objects', code: `${HOLD} for (;;) held.push({ a: [1, 2], b: {} })`, ends: 'memory' },
  { name: 'doubles a text', code: `let t = 'ab'; for (;;) t = t + t + '!'; `, ends: 'threw' },
  { name: 'repeats a text to a gigabyte', code: `return 'y'.repeat(1e9).length`, ends: 'memory' },
  { name: 'pads a text to a gigabyte', code: `return 'y'.padEnd(1e9, 'z').length`, ends: 'memory' },
  { name: 'allocates one large buffer', code: `return new ArrayBuffer(2 ** 30).byteLength`, ends: 'memory' },
  { name: 'allocates more than addresses allow', code: `return new ArrayBuffer(2 ** 40).byteLength`, ends: 'threw' },
  { name: 'fills a map', code: `const m = new Map(); for (let i = 0; ; i++) m.set('key' + i, [i])`, ends: 'memory' },
  {
    name: 'fills a set of symbols',
    code: `const s = new Set(); for (;;) s.add(Symbol('x'.repeat(100)))`,
    ends: 'memory',
  },
  {
    name: 'keeps closures',
    code: `${HOLD} for (;;) { const big = new Array(100).fill(1); held.push(() => big) }`,
    ends: 'memory',
  },
  {
    name: 'keeps pending promises',
    code: `${HOLD} for (;;) held.push(Promise.resolve().then(() => held))`,
    ends: 'memory',
  },
  { name: 'squares a BigInt', code: `let n = 3n; for (;;) n *= n`, ends: 'threw' },
  {
    name: 'compiles a huge pattern',
    code: `return new RegExp('(a{1,99}){1,99}'.repeat(3000)).source.length`,
    ends: 'threw',
  },
  {
    name: 'allocates while it is loaded',
    code: `const all = []; for (;;) all.push('x'.repeat(1000) + all.length)`,
    is_module: true,
    ends: 'memory',
  },
  {
    name: 'goes on after memory ran out',
    code: `${HOLD} try { for (;;) held.push(new Uint8Array(9e5)) } catch { held.length = 0 } return 1`,
    ends: 'memory',
  },
  // The call stack.
  { name: 'calls itself without end', code: `const f = (n) => f(n + 1) + 1; return f(0)`, ends: 'memory' },
  {
    name: 'calls itself through a getter',
    code: `const o = { get a() { return this.a + 1 } }; return o.a`,
    ends: 'memory',
  },
  { name: 'parses deep JSON', code: `return JSON.parse('['.repeat(2e5) + ']'.repeat(2e5)).length`, ends: 'threw' },
  {
    name: 'writes deep JSON',
    code: `let v = []; for (let i = 0; i < 3e4; i++) v = [v]; return JSON.stringify(v).length`,
    ends: 'memory',
  },
  {
    name: 'flattens a deep array',
    code: `let v = []; for (let i = 0; i < 3e4; i++) v = [v]; return v.flat(Infinity).length`,
    ends: 'memory',
  },
  {
    name: 'nests groups in a pattern',
    code: `return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).source.length`,
    ends: 'threw',
  },
  {
    name: 'chains proxies',
    code: `let p = {}; for (let i = 0; i < 3e4; i++) p = new Proxy(p, {}); return p.x === undefined`,
    ends: 'memory',
  },
  // Fuel.
  { name: 'loops', code: `while (true);`, ends: 'fuel' },
  { name: 'loops in a comparator', code: `return [2, 1].sort(() => { for (;;); })`, ends: 'fuel' },
  { name: 'backtracks', code: `return /^(x+x+)+y$/.test('x'.repeat(60))`, ends: 'fuel' },
  { name: 'loops in finally', code: `try { throw 1 } finally { for (;;); }`, ends: 'fuel' },
  { name: 'catches the end of its fuel', code: `for (;;) { try { for (;;); } catch { } }`, ends: 'fuel' },
  { name: 'loops in a getter of its result', code: `return { get score_bps() { for (;;); } }`, ends: 'fuel' },
  { name: 'loops when its keys are read', code: `return new Proxy({}, { ownKeys() { for (;;); } })`, ends: 'fuel' },
  {
    name: 'loops when its prototype is read',
    code: `return new Proxy({}, { getPrototypeOf() { for (;;); } })`,
    ends: 'fuel',
  },
  { name: 'loops when its error is described', code: `throw { get message() { for (;;); } }`, ends: 'fuel' },
  {
    name: 'throws a text that is made by a loop',
    code: `throw { toString() { for (;;); }, name: 'x' }`,
    ends: 'threw',
  },
  {
    name: 'iterates without end',
    code: `return [...{ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }]`,
    ends: 'fuel',
  },
  {
    name: 'generates without end',
    code: `function* g() { for (;;) yield 1 } for (const x of g()); return 1`,
    ends: 'fuel',
  },
  { name: 'replaces without end', code: `const r = /a*/g; for (;;) 'b'.replace(r, 'c')`, ends: 'fuel' },
  // Promises never run.
  { name: 'waits without end', code: `(async () => { for (;;) await 0 })(); return 1`, ends: { output: 1 } },
  {
    name: 'chains promises without end',
    code: `const f = () => Promise.resolve().then(f); f(); return 1`,
    ends: { output: 1 },
  },
  { name: 'returns a promise', code: `return (async () => 1)()`, ends: 'output_not_json' },
  { name: 'returns something like a promise', code: `return { then(done) { done(1) } }`, ends: 'output_not_json' },
  // What is outside.
  { name: 'reads the clock', code: `return new Date().getTime()`, ends: 'not_available' },
  { name: 'draws a random number', code: `return Math.random()`, ends: 'not_available' },
  { name: 'starts a timer', code: `setTimeout(() => 1, 0); return 1`, ends: 'not_available' },
  { name: 'sends a request', code: `return fetch('http://169.254.169.254/')`, ends: 'not_available' },
  { name: 'reads the environment', code: `return process.env`, ends: 'not_available' },
  { name: 'compiles text', code: `return new Function('return this')()`, ends: 'not_available' },
  {
    name: 'compiles text through a prototype',
    code: `return Object.getPrototypeOf(async function () {}).constructor('return 1')`,
    ends: 'not_available',
  },
  { name: 'evaluates text', code: `return eval('1')`, ends: 'not_available' },
  { name: 'evaluates text indirectly', code: `return (0, globalThis.eval)('1')`, ends: 'threw' },
  { name: 'imports', code: `import('node:fs'); return 1`, ends: 'imports' },
  { name: 'requires', code: `return require('fs')`, ends: 'imports' },
  {
    name: 'looks for the host',
    code: `return [typeof process, typeof require, typeof fetch, typeof WebAssembly, typeof Atomics, typeof SharedArrayBuffer, typeof WeakRef, typeof std, typeof os, typeof scriptArgs].filter((t) => t !== 'undefined')`,
    ends: { output: [] },
  },
  {
    name: 'reads the host through the function it got',
    code: `return [lists.get.constructor === Function, Object.getPrototypeOf(lists) === Object.prototype, Object.isFrozen(lists)]`,
    ends: { output: [true, true, true] },
  },
  // Built-ins.
  { name: 'adds to every object', code: `Object.prototype.score_bps = 0; return {}`, ends: 'threw' },
  { name: 'replaces a method of arrays', code: `Array.prototype.includes = () => true; return 1`, ends: 'threw' },
  {
    name: 'replaces how results are written',
    code: `JSON.stringify = () => '{"score_bps":0}'; return 1`,
    ends: 'threw',
  },
  {
    name: 'defines how results are written',
    code: `Object.defineProperty(Object.prototype, 'toJSON', { value: () => 1 }); return 1`,
    ends: 'threw',
  },
  { name: 'replaces a prototype', code: `Object.setPrototypeOf(Object.prototype, { x: 1 }); return 1`, ends: 'threw' },
  { name: 'adds a global', code: `globalThis.shared = 1; return 1`, ends: 'threw' },
  { name: 'replaces a global', code: `globalThis.Object = null; return 1`, ends: 'threw' },
  { name: 'writes its result itself', code: `return { toJSON: () => ({ score_bps: 0 }) }`, ends: 'output_not_json' },
  {
    name: 'gives another result when it is read again',
    code: `let n = 0; return { get a() { return ++n } }`,
    ends: { output: { a: 1 } },
  },
  // Results.
  {
    name: 'returns a deep result',
    code: `let v = 1; for (let i = 0; i < 1000; i++) v = { v }; return v`,
    ends: 'output_not_json',
  },
  { name: 'returns a result that contains itself', code: `const a = []; a.push(a); return a`, ends: 'output_not_json' },
  { name: 'returns a huge sparse array', code: `return new Array(2 ** 31)`, ends: 'output_not_json' },
  {
    name: 'returns too many members',
    code: `return new Array(1e5 + 1).fill(1)`,
    ends: 'output_too_large',
  },
  { name: 'returns a long text', code: `return 'x'.repeat(3e5)`, ends: 'output_too_large' },
  { name: 'returns a BigInt', code: `return [1n]`, ends: 'output_not_json' },
  { name: 'throws a long message', code: `throw new Error('x'.repeat(5e6))`, ends: 'threw' },
  { name: 'throws nothing', code: `throw undefined`, ends: 'threw' },
  { name: 'throws a proxy that throws', code: `throw new Proxy({}, { get() { throw 1 } })`, ends: 'threw' },
  // Built-in functions that work on too much data.
  { name: 'joins a hundred million gaps', code: `return Array(1e8).join('abcdefgh').length`, ends: 'native_loop' },
  {
    name: 'joins a sparse array with itself',
    code: `const a = []; a[2 ** 31] = 1; return a.concat(a).length`,
    ends: 'native_loop',
  },
  {
    name: 'fills four billion members',
    code: `return Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0)`,
    ends: 'memory',
  },
  { name: 'searches four billion gaps', code: `return Array(2 ** 32 - 1).indexOf(1)`, ends: 'native_loop' },
]

export const toAttackSource = ({ code, is_module }: AttackScript): string =>
  is_module ? code : `export function factor(inputs, lists) { ${code} }`
