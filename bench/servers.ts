/** Starts the servers under measurement, puts load on them, and reads what they used. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Child, startChild } from './child.ts'
import type { LoadOptions, LoadResult, LoadTarget } from './load-protocol.ts'
import { readPostgresCpu } from './postgres-cpu.ts'
import type { MeasuredRow, Round } from './table.ts'

export interface BenchTarget extends MeasuredRow {
  readonly id: string
  readonly server: Child<{ port: number }> | undefined
  readonly requests: readonly string[]
  readonly expected_status: number
  readonly rounds: Round[]
}

export interface ServersOptions {
  /** The Node.js that all of them run on, if not this one. */
  readonly node: string | undefined
  /** The server whose CPU profile is wanted, by id. */
  readonly profile: string | undefined
  readonly connections: number
  readonly duration_ms: number
}

export const scriptPath = (name: string): string => path.join(import.meta.dirname, `${name}.mjs`)

/** How often the generator turns from one server to the other: shorter than the moods of a machine that is shared. */
const SLICE_MS = 250

export class Servers {
  readonly #options: ServersOptions
  readonly #children: Child<unknown>[] = []

  constructor(options: ServersOptions) {
    this.#options = options
  }

  async start<F>(id: string, file: string, order: object): Promise<Child<F>> {
    const { node, profile } = this.#options
    const profile_to = profile === id ? path.join(import.meta.dirname, 'profiles') : undefined
    const child = await startChild<F>(path.isAbsolute(file) ? file : scriptPath(file), order, {
      profile_to,
      ...(node !== undefined && { node }),
    })
    return this.register(child)
  }

  /** One that was started elsewhere, to be stopped with the others. */
  register<F>(child: Child<F>): Child<F> {
    this.#children.push(child)
    return child
  }

  async stop(): Promise<void> {
    for (const child of this.#children) await child.stop()
  }

  /** One turn of one server. */
  async measure(row: BenchTarget, warmup_ms: number): Promise<Round | undefined> {
    if (!row.server) return undefined
    const { duration_ms } = this.#options
    const before_us = await row.server.cpu_us()
    const postgres_before_us = readPostgresCpu()
    const [result] = (await this.#runLoad([row], { warmup_ms, duration_ms, slices: 1 })) as [LoadResult]
    const used_us = (await row.server.cpu_us()) - before_us
    const postgres_us = readPostgresCpu() - postgres_before_us
    // Warm-up requests used processor time too, at the same rate.
    const all = result.responses * ((duration_ms + warmup_ms) / duration_ms)
    return { ...result, cpu_us: used_us / all, postgres_cpu_us: postgres_us / all }
  }

  /** The two in turns of a quarter of a second: what each did, slice by slice. */
  async compare(
    rows: readonly [BenchTarget, BenchTarget],
    duration_ms: number,
    warmup_ms: number,
  ): Promise<readonly number[]> {
    const slices = Math.round(duration_ms / SLICE_MS)
    const [above, below] = (await this.#runLoad(rows, { warmup_ms, duration_ms, slices })) as [LoadResult, LoadResult]
    return above.slices_per_second.map((rate, n) => rate / (below.slices_per_second[n] as number))
  }

  async #runLoad(
    rows: readonly BenchTarget[],
    time: Pick<LoadOptions, 'warmup_ms' | 'duration_ms' | 'slices'>,
  ): Promise<LoadResult[]> {
    const targets = rows.map(toLoadTarget)
    const order: LoadOptions = { targets, connections: this.#options.connections, ...time }
    const { stdout } = await promisify(execFile)(process.execPath, [scriptPath('load'), JSON.stringify(order)])
    const results = JSON.parse(stdout) as LoadResult[]
    for (const [n, row] of rows.entries()) assertResponses(row, results[n] as LoadResult)
    return results
  }
}

function toLoadTarget({ label, server, requests, expected_status }: BenchTarget): LoadTarget {
  if (!server) throw new Error(`${label} has no server`)
  return { port: server.facts.port, requests, expected_status }
}

function assertResponses({ label }: BenchTarget, { unexpected, responses: answers }: LoadResult): void {
  const wrong = Object.entries(unexpected).map(([status, times]) => `${times} × ${status}`)
  if (wrong.length === 0 && answers > 0) return
  throw new Error(`${label} gave unexpected answers: ${wrong.join(', ') || 'none'}`)
}
