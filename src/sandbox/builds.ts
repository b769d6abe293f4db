/**
 * All builds of the sandbox by hash. A decision names the build that computed its plugin results, and a replay uses that build:
 * a change of the interpreter, the prelude or the rules is a new build, and no build is ever removed.
 */
import { hash } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { PRELUDE_1 } from './prelude.ts'

/** Constants that decide results. */
export interface SandboxRules {
  /** Interface of plugins: how an entry point is called. */
  readonly api: number
  readonly output_bytes: number
  readonly output_depth: number
  readonly output_nodes: number
  /** Of the interpreter's call stack, in bytes. The stack of the thread is larger, so that this limit is always met first. */
  readonly call_stack_bytes: number
  readonly memory_pages: number
  /** Characters of an error's stack trace. */
  readonly stack_length: number
  /** Names that other JavaScript hosts define. Using one ends with `not_available`. */
  readonly removed: readonly string[]
}

export interface SandboxBuild {
  readonly engine: string
  /** Module specifier of the interpreter. */
  readonly wasm: string
  readonly wasm_sha256: string
  readonly prelude: string
  readonly rules: SandboxRules
}

const build1: SandboxBuild = {
  engine: 'quickjs-emscripten 0.32.0 release-sync',
  wasm: '@jitl/quickjs-wasmfile-release-sync/wasm',
  wasm_sha256: '105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232',
  prelude: PRELUDE_1,
  rules: {
    api: 1,
    output_bytes: 262_144,
    output_depth: 20,
    output_nodes: 100_000,
    call_stack_bytes: 131_072,
    memory_pages: 256,
    stack_length: 2000,
    removed: [
      ...['Date', 'eval', 'Intl', 'Temporal', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics'],
      ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'requestAnimationFrame', 'performance'],
      ...['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'Worker', 'WebAssembly', 'crypto', 'navigator'],
      ...['process', 'Buffer', 'Deno', 'Bun', 'console', 'window', 'document', 'self', 'global', 'structuredClone'],
    ],
  },
}

export const hashBuild = (build: SandboxBuild): string => hash('sha256', canonicalJson(build), 'hex')

/** Of the build that new results are computed with. */
export const SANDBOX_HASH = hashBuild(build1)

export const sandboxBuilds: ReadonlyMap<string, SandboxBuild> = new Map([[SANDBOX_HASH, build1]])
