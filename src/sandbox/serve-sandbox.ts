/** Answers tasks of the runner, in the thread. */
import { parentPort } from 'node:worker_threads'
import type { SandboxBuild } from './builds.ts'
import { compileBuild, Interpreter } from './interpreter.ts'
import type { SandboxItem, SandboxResult } from './model.ts'
import { runItems } from './run-item.ts'
import type { WasmModule } from './web-assembly.ts'
import type { SandboxWorkerReply, SandboxWorkerTask } from './worker-messages.ts'

/** After this time the results so far are sent, so that another caller can have its turn. */
const TURN_MS = 100

export async function serveSandbox(builds: ReadonlyMap<string, SandboxBuild>): Promise<void> {
  const interpreters = new InterpreterSource(builds)
  parentPort?.on('message', (task: SandboxWorkerTask) => {
    runTask(interpreters, task)
      .catch((error: unknown): SandboxWorkerReply => ({ op: 'failed', message: String(error) }))
      .then((reply) => parentPort?.postMessage(reply))
  })
  // Compiled now, so that it does not count against the time limit of the first task.
  const [first] = builds.keys()
  if (first !== undefined) await interpreters.get(first, WARM_UP_MIB)
  parentPort?.postMessage({ op: 'ready' } satisfies SandboxWorkerReply)
}

const WARM_UP_MIB = 32

async function runTask(interpreters: InterpreterSource, task: SandboxWorkerTask): Promise<SandboxWorkerReply> {
  const started_ms = performance.now()
  if (task.is_shared) return { op: 'ran', results: await runInFreshMemory(interpreters, task, task.items) }
  const results: SandboxResult[] = []
  for (const item of task.items) {
    if (results.length > 0 && performance.now() - started_ms > TURN_MS) break
    results.push(...(await runInFreshMemory(interpreters, task, [item])))
  }
  return { op: 'ran', results }
}

/** Memory is given out differently after other items: only new memory says whether an item needs too much. */
async function runInFreshMemory(
  interpreters: InterpreterSource,
  task: SandboxWorkerTask,
  items: readonly SandboxItem[],
): Promise<readonly SandboxResult[]> {
  for (;;) {
    const { build, interpreter, isNew } = await interpreters.get(task.sandbox_hash, task.limits.memory_mib)
    const results = runItems(interpreter, build, task, items)
    if (isNew || results.every((result) => result.ok || result.reason !== 'memory')) return results
    interpreter.markFaulty()
  }
}

interface Ready {
  readonly build: SandboxBuild
  readonly interpreter: Interpreter
  /** No item has run in it. */
  readonly isNew: boolean
}

/** Keeps one interpreter as long as it can be used again. */
class InterpreterSource {
  readonly #builds: ReadonlyMap<string, SandboxBuild>
  readonly #compiled = new Map<string, WasmModule>()
  #kept: { readonly key: string; readonly interpreter: Interpreter; isNew: boolean } | null = null

  constructor(builds: ReadonlyMap<string, SandboxBuild>) {
    this.#builds = builds
  }

  async get(sandbox_hash: string, memory_mib: number): Promise<Ready> {
    const build = this.#builds.get(sandbox_hash)
    if (!build) throw new RangeError(`There is no sandbox build ${sandbox_hash}`)
    const key = `${sandbox_hash} ${memory_mib}`
    if (this.#kept?.key !== key || !this.#kept.interpreter.isReusable) {
      this.#kept = null
      const interpreter = await Interpreter.create(build, this.#compile(build), memory_mib)
      this.#kept = { key, interpreter, isNew: true }
    }
    const { interpreter, isNew } = this.#kept
    this.#kept.isNew = false
    return { build, interpreter, isNew }
  }

  #compile(build: SandboxBuild): WasmModule {
    const known = this.#compiled.get(build.wasm_sha256) ?? compileBuild(build)
    this.#compiled.set(build.wasm_sha256, known)
    return known
  }
}
