/** The interpreter with memory of its own. Items run in it one after the other, each in a new runtime and context. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import nodeModule from 'node:module'
import variant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import type { SandboxBuild } from './builds.ts'
import { type WasmMemory, type WasmModule, webAssembly } from './web-assembly.ts'

const PAGES_PER_MIB = 16
/** The interpreter tries to grow its memory by three sizes; when it fails with all, an allocation fails. */
const GROW_ATTEMPTS = 3

export function compileBuild(build: SandboxBuild): WasmModule {
  const bytes = readFileSync(nodeModule.createRequire(import.meta.url).resolve(build.wasm))
  const found = hash('sha256', bytes, 'hex')
  if (found !== build.wasm_sha256) throw new Error(`${build.wasm} has the hash ${found}, not that of the sandbox build`)
  return new webAssembly.Module(bytes)
}

export class Interpreter {
  readonly quickjs: QuickJSWASMModule
  readonly #memory: GuardedMemory
  readonly #initial_bytes: number
  #isFaulty = false

  private constructor(quickjs: QuickJSWASMModule, memory: GuardedMemory) {
    this.quickjs = quickjs
    this.#memory = memory
    this.#initial_bytes = memory.memory.buffer.byteLength
  }

  static async create(build: SandboxBuild, compiled: WasmModule, memory_mib: number): Promise<Interpreter> {
    const memory = guardMemory(build.rules.memory_pages, memory_mib * PAGES_PER_MIB)
    const options = { wasmModule: compiled, wasmMemory: memory.memory }
    // The package's types describe its CommonJS form.
    const chosen = newVariant(variant as unknown as QuickJSSyncVariant, options) as QuickJSSyncVariant
    return new Interpreter(await newQuickJSWASMModuleFromVariant(chosen), memory)
  }

  /** An allocation failed, whether or not the plugin handled it: what it returned depends on the state of the memory. */
  get isExhausted(): boolean {
    return this.#memory.isExhausted()
  }

  markFaulty(): void {
    this.#isFaulty = true
  }

  /** One that has grown or failed is replaced: every item finds the same memory. */
  get isReusable(): boolean {
    return !this.#isFaulty && !this.isExhausted && this.#memory.memory.buffer.byteLength === this.#initial_bytes
  }
}

interface GuardedMemory {
  readonly memory: WasmMemory
  readonly isExhausted: () => boolean
}

function guardMemory(initial: number, maximum: number): GuardedMemory {
  const memory = new webAssembly.Memory({ initial, maximum })
  const grow = memory.grow.bind(memory)
  let failures = 0
  let isExhausted = false
  const guarded = (pages: number): number => {
    try {
      const before = grow(pages)
      failures = 0
      return before
    } catch (error) {
      failures++
      if (failures === GROW_ATTEMPTS) isExhausted = true
      failures %= GROW_ATTEMPTS
      throw error
    }
  }
  Object.defineProperty(memory, 'grow', { value: guarded })
  return { memory, isExhausted: () => isExhausted }
}
