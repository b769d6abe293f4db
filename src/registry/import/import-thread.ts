/**
 * Entry point of the worker thread that reads a source. Its memory is bounded and it can be terminated at any time, so a hostile file
 * or type affects one import only. It communicates with import-runner.ts only.
 */
import { parentPort } from 'node:worker_threads'
import { SourceFault } from '../adapter.ts'
import { adapters } from '../adapters/index.ts'
import { createPluginAdapter, PluginAdapterFault, type PluginFault } from '../adapters/plugin-adapter.ts'
import { detectAdapter } from '../detection/detect-adapter.ts'
import { runExplainedImport } from './explained-import.ts'
import type { ImportOutput, ImportRequest, ThreadTask } from './import-messages.ts'

export type ThreadInput =
  /** While the first cell of `pause` is not 0 the thread stops before its next batch, until it receives `resume`. */
  | { readonly kind: 'start'; readonly request: ThreadTask; readonly pause: Int32Array }
  | { readonly kind: 'resume' }
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array }
  | { readonly kind: 'finished' }
  | { readonly kind: 'written' }
export type ThreadOutput =
  | { readonly kind: 'started' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'taken'; readonly bytes: number }
  | { readonly kind: 'output'; readonly output: ImportOutput }
  | { readonly kind: 'done' }
  | { readonly kind: 'fault'; readonly code: string; readonly message: string; readonly at: SourceFault['at'] }
  | { readonly kind: 'plugin_fault'; readonly fault: PluginFault }
  | { readonly kind: 'crash'; readonly message: string }

/** Number of output messages that may be pending before the thread waits for the database. */
const OUTPUTS_UNDER_WAY = 4

const port = parentPort
if (port) {
  const send = (message: ThreadOutput, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)
  const chunks: (Uint8Array | null)[] = []
  let wakeReader = () => {}
  let wakeWriter = () => {}
  let under_way = 0

  async function* source(): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (chunks.length === 0) {
        await new Promise<void>((resolve) => {
          wakeReader = resolve
        })
      }
      const chunk = chunks.shift() as Uint8Array | null
      if (chunk === null) return
      const bytes = chunk.length
      yield chunk
      // The reader requests the next chunk only when the previous one is processed.
      send({ kind: 'taken', bytes })
    }
  }

  let resume = () => {}
  const waitWhilePaused = (pause: Int32Array): Promise<void> | undefined => {
    if (Atomics.load(pause, 0) === 0) return undefined
    const resumed = new Promise<void>((resolve) => {
      resume = resolve
    })
    send({ kind: 'paused' })
    return resumed
  }

  async function* runTask(request: ThreadTask, pause: Int32Array): AsyncGenerator<ImportOutput> {
    if ('detect' in request) {
      yield { kind: 'detection', detection: await detectAdapter(source(), request.detect) }
      return
    }
    if (request.plugin) {
      yield* runPluginImport(request, () => waitWhilePaused(pause))
      return
    }
    const adapter = adapters.get(request.adapter_key)
    if (!adapter) throw new Error(`unknown adapter ${request.adapter_key}`)
    yield* runExplainedImport(adapter, source(), request, () => waitWhilePaused(pause))
  }

  async function* runPluginImport(
    request: ImportRequest,
    beforeBatch: () => Promise<void> | undefined,
  ): AsyncGenerator<ImportOutput> {
    if (!request.plugin) return
    const adapter = createPluginAdapter(request.plugin)
    try {
      for await (const output of runExplainedImport(adapter, source(), request, beforeBatch)) {
        if (output.kind !== 'end') yield output
        else yield { ...output, totals: { ...output.totals, plugin_fuel: [...adapter.fuel] } }
      }
    } finally {
      await adapter.close()
    }
  }

  const run = async (request: ThreadTask, pause: Int32Array): Promise<void> => {
    try {
      for await (const output of runTask(request, pause)) {
        under_way++
        if (output.kind === 'rows' || output.kind === 'tree') {
          // Transferred, not copied.
          send({ kind: 'output', output }, [output.bytes.buffer])
        } else {
          send({ kind: 'output', output })
        }
        while (under_way >= OUTPUTS_UNDER_WAY) {
          await new Promise<void>((resolve) => {
            wakeWriter = resolve
          })
        }
      }
      send({ kind: 'done' })
    } catch (error) {
      if (error instanceof SourceFault) send({ kind: 'fault', code: error.code, message: error.message, at: error.at })
      else if (error instanceof PluginAdapterFault) send({ kind: 'plugin_fault', fault: error.fault })
      else send({ kind: 'crash', message: (error as Error).stack ?? String(error) })
    }
  }

  port.on('message', (message: ThreadInput) => {
    if (message.kind === 'start') {
      send({ kind: 'started' })
      void run(message.request, message.pause)
    } else if (message.kind === 'resume') {
      resume()
    } else if (message.kind === 'written') {
      under_way--
      wakeWriter()
    } else {
      chunks.push(message.kind === 'chunk' ? message.bytes : null)
      wakeReader()
    }
  })
}
