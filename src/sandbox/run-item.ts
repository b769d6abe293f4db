/** Runs items in a new context and says how each ended. */
import {
  type JSModuleLoader,
  type JSModuleNormalizer,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  Scope,
} from 'quickjs-emscripten-core'
import type { SandboxBuild } from './builds.ts'
import type { Interpreter } from './interpreter.ts'
import type { EntryReference, RunFault, SandboxItem, SandboxResult } from './model.ts'
import type { SandboxWorkerTask } from './worker-messages.ts'

const FILE = 'plugin.js'
const MESSAGE_LENGTH = 200
const MISSING = 'missing'
/** A dynamic import starts in a job of the promise queue; jobs run only to detect it. */
const MAX_JOBS = 100
const IMPORT = /\bimport\b/

type Fault = Extract<SandboxResult, { reason: RunFault }>
type FaultText = Pick<Fault, 'reason' | 'message'> & Partial<Pick<Fault, 'line' | 'stack'>>

interface ErrorText {
  readonly reason: RunFault
  readonly message: string
  readonly stack: string
  readonly type: string
}

/** What happened in one item, as the host saw it. */
interface ItemState {
  fuel: number
  imported: string | null
  undeclared: string | null
  readonly read: Map<string, EntryReference>
  readonly needed: Map<string, EntryReference>
}

/** All of them in one context: a plugin that keeps state between calls gives other results than in contexts of their own. */
export function runItems(
  interpreter: Interpreter,
  build: SandboxBuild,
  task: SandboxWorkerTask,
  items: readonly SandboxItem[],
): readonly SandboxResult[] {
  const runs = items.map((item) => ({ task, item, state: createState() }))
  const outcomes = runGuarded(interpreter, build, runs)
  return runs.map(({ state }, index) => {
    const outcome = outcomes[index] ?? (outcomes.at(-1) as string | FaultText)
    return toResult(state, findFault(interpreter, task, state) ?? outcome)
  })
}

const createState = (): ItemState => ({ fuel: 0, imported: null, undeclared: null, read: new Map(), needed: new Map() })

function toResult({ fuel, needed, read }: ItemState, outcome: string | FaultText): SandboxResult {
  if (needed.size > 0) return { ok: false, reason: 'needs_entries', needed: [...needed.values()], fuel }
  if (typeof outcome === 'string') return { ok: true, output: outcome, fuel, read: [...read.values()] }
  const { reason, message, line = null, stack = null } = outcome
  const text = toStorable(message.slice(0, MESSAGE_LENGTH))
  return { ok: false, reason, message: text, line, stack: stack && toStorable(stack), fuel }
}

/** U+0000 and lone surrogates: PostgreSQL stores neither. */
const UNSTORABLE = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const toStorable = (text: string): string => text.replaceAll(UNSTORABLE, '\ufffd')

/** Faults that hold whatever the plugin made of them. */
function findFault(interpreter: Interpreter, { limits }: SandboxWorkerTask, state: ItemState): FaultText | null {
  if (interpreter.isExhausted)
    return { reason: 'memory', message: `It needs more than ${limits.memory_mib} MiB of memory` }
  if (state.fuel > limits.fuel) return { reason: 'fuel', message: `It used more than ${limits.fuel} units of fuel` }
  if (state.undeclared !== null) {
    return { reason: 'list_undeclared', message: `The list ${state.undeclared} is not declared in permissions.lists` }
  }
  if (state.imported === null) return null
  return { reason: 'imports', message: `A plugin is one module and cannot import any: ${state.imported}` }
}

interface ItemRun {
  readonly task: SandboxWorkerTask
  readonly item: SandboxItem
  readonly state: ItemState
}

type Outcome = string | FaultText

/**
 * An exception of the host means that the interpreter's own state is lost: it is not used again. There is one outcome for each
 * item, or fewer: then the last is that of all others.
 */
function runGuarded(interpreter: Interpreter, build: SandboxBuild, runs: readonly ItemRun[]): readonly Outcome[] {
  let runtime: QuickJSRuntime | undefined
  const outcomes: Outcome[] = []
  try {
    runtime = interpreter.quickjs.newRuntime()
    runInRuntime(runtime, build, runs, outcomes)
  } catch (error) {
    interpreter.markFaulty()
    const message = `The interpreter stopped: ${error instanceof Error ? error.message : error}`
    outcomes.push({ reason: 'memory', message })
  }
  try {
    runtime?.dispose()
  } catch {
    interpreter.markFaulty()
  }
  return outcomes
}

function runInRuntime(
  runtime: QuickJSRuntime,
  build: SandboxBuild,
  runs: readonly ItemRun[],
  outcomes: Outcome[],
): void {
  let [current] = runs as [ItemRun]
  const { task } = current
  runtime.setMaxStackSize(build.rules.call_stack_bytes)
  const noteImport = (name: string): void => {
    current.state.imported = name.slice(0, 50)
  }
  const load: JSModuleLoader = (name) => {
    noteImport(name)
    return { error: new Error(`cannot import ${name}`) }
  }
  // The loader is not asked for the module that is loaded already, which is the plugin itself.
  const resolve: JSModuleNormalizer = (_from, name) => {
    noteImport(name)
    return name
  }
  if (task.refuses_own_import) runtime.setModuleLoader(load, resolve)
  else runtime.setModuleLoader(load)
  Scope.withScope((scope) => {
    const context = scope.manage(runtime.newContext({ intrinsics: INTRINSICS }))
    const realm: Realm = { context, manage: (handle) => scope.manage(handle) }
    const host = evaluatePrelude(realm, build, (list_key, key) => findEntryText(list_key, key, current))
    runtime.setInterruptHandler(() => current.state.needed.size > 0 || ++current.state.fuel > task.limits.fuel)
    const loaded = loadModule(realm, host, task)
    if ('reason' in loaded) {
      outcomes.push(loaded)
      return
    }
    for (const run of runs) {
      current = run
      outcomes.push(run.item.load_only ? 'null' : callEntry(realm, build, { host, entry: loaded.entry, run }))
      // A dynamic import must be written in the source, since no code is compiled later.
      if (IMPORT.test(task.source) && runtime.hasPendingJob()) runtime.executePendingJobs(MAX_JOBS).dispose()
    }
  })
}

interface EntryCall {
  readonly host: Prelude
  readonly entry: QuickJSHandle
  readonly run: ItemRun
}

function callEntry(realm: Realm, build: SandboxBuild, { host, entry, run }: EntryCall): Outcome {
  const { context, manage } = realm
  const name = manage(context.newString(run.task.entry_point))
  const args = manage(context.newString(`[${run.item.args.join(',')}]`))
  return readOutcome(realm, context.callFunction(host.call, context.undefined, name, entry, args), build)
}

/** The context of one item. Every handle is managed: one that is left keeps the runtime from being freed. */
interface Realm {
  readonly context: QuickJSContext
  readonly manage: Scope['manage']
}

/** Without Date, WeakRef and FinalizationRegistry. */
const INTRINSICS = {
  ...{ BaseObjects: true, Eval: true, StringNormalize: true, RegExp: true, JSON: true, Proxy: true },
  ...{ MapSet: true, TypedArrays: true, Promise: true, BigInt: true },
}

interface Prelude {
  readonly call: QuickJSHandle
  readonly describe: QuickJSHandle
}

function evaluatePrelude(
  { context, manage }: Realm,
  build: SandboxBuild,
  find: (list_key: string, key: string) => string,
): Prelude {
  const evaluate = (code: string): QuickJSHandle => manage(context.unwrapResult(context.evalCode(code, 'prelude.js')))
  const findEntry = manage(
    context.newFunction('findEntry', (list, key) =>
      context.newString(find(context.getString(list), context.getString(key))),
    ),
  )
  const prelude = evaluate(build.prelude)
  const rules = evaluate(`(${JSON.stringify(build.rules)})`)
  const host = manage(context.unwrapResult(context.callFunction(prelude, context.undefined, rules, findEntry)))
  return { call: manage(context.getProp(host, 'call')), describe: manage(context.getProp(host, 'describe')) }
}

/** A list that has no member in the supplied entries is not declared by the plugin. */
function findEntryText(list_key: string, key: string, { item: { entries = {} }, state }: ItemRun): string {
  if (!Object.hasOwn(entries, list_key)) {
    state.undeclared ??= list_key.slice(0, 50)
    return 'null'
  }
  const list = entries[list_key] ?? {}
  const reference = { list_key, key }
  const id = JSON.stringify([list_key, key])
  if (!Object.hasOwn(list, key)) {
    state.needed.set(id, reference)
    return MISSING
  }
  state.read.set(id, reference)
  return JSON.stringify(list[key])
}

function loadModule(
  realm: Realm,
  { describe }: Prelude,
  { source, entry_point }: SandboxWorkerTask,
): { readonly entry: QuickJSHandle } | FaultText {
  const { context, manage } = realm
  const evaluated = manage(context.evalCode(source, FILE, { type: 'module' }))
  if (evaluated.error) return describeLoadError(realm, describe, evaluated.error, source)
  const settled = context.getPromiseState(evaluated.value)
  if (settled.type !== 'fulfilled') {
    return { reason: 'load_failed', message: 'The module waits while it is loaded: top-level await is not available' }
  }
  const entry = manage(context.getProp(settled.value, entry_point))
  if (context.typeof(entry) === 'function') return { entry }
  return { reason: 'export_missing', message: `The module exports no function ${entry_point}` }
}

function describeLoadError(
  { context, manage }: Realm,
  describe: QuickJSHandle,
  error: QuickJSHandle,
  source: string,
): FaultText {
  const reason = manage(context.newString('load_failed'))
  const described = manage(context.callFunction(describe, context.undefined, error, reason))
  // Where describing it met a limit, the fault is found by the limit.
  if (described.error) return { reason: 'load_failed', message: 'The module cannot be loaded' }
  const text = JSON.parse(context.getString(described.value).slice(1)) as ErrorText
  const fault = toFault(text)
  if (text.type !== 'SyntaxError') return fault
  // JSON.parse throws a SyntaxError too: compiling the source alone tells them apart.
  const compiled = manage(context.evalCode(source, FILE, { type: 'module', compileOnly: true }))
  return compiled.error ? { ...fault, reason: 'syntax' } : fault
}

/** Either the output or a fault. */
function readOutcome(
  { context, manage }: Realm,
  result: ReturnType<QuickJSContext['callFunction']>,
  { rules }: SandboxBuild,
): string | FaultText {
  const called = manage(result)
  // Only a limit passes through the prelude's own handler.
  if (called.error) return { reason: 'memory', message: 'The interpreter ran out of memory' }
  const text = context.getString(called.value)
  if (text.startsWith('-')) return toFault(JSON.parse(text.slice(1)) as ErrorText)
  const output = text.slice(1)
  if (Buffer.byteLength(output) <= rules.output_bytes) return output
  return { reason: 'output_too_large', message: `The result has more than ${rules.output_bytes} bytes` }
}

const POSITION = /plugin\.js:(\d+)/

function toFault({ reason, message, stack }: ErrorText): FaultText {
  const line = POSITION.exec(stack)?.[1]
  const frames = stack.split('\n').filter((frame) => frame.trim() !== '' && !frame.includes('(prelude.js:'))
  return { reason, message, line: line === undefined ? null : Number(line), stack: frames.join('\n') || null }
}
