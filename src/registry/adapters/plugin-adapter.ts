/**
 * An adapter that a plugin implements: the host decodes the file into rows, and the plugin makes entries of them in the sandbox, in
 * chunks. A chunk that fails ends the import.
 */
import { ThreadFailure } from '#kernel/bounded-thread.ts'
import type { RunFault, SandboxLimits, SandboxResult } from '#sandbox/model.ts'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'
import type { Adapter, Batch, Entry, ReadEntry, Reject, Source, Warning } from '../adapter.ts'
import { refuseSource } from '../formats/fault.ts'
import { findValueFaults, type ValueSchema } from '../types/value-schema.ts'
import { csv } from './csv.ts'
import { json } from './json.ts'
import { xlsx } from './xlsx.ts'
import { xmlRecords } from './xml-records.ts'

export const PLUGIN_ADAPTER_PREFIX = 'plugin:'

/** The code of a plugin adapter and what it may use, as data: it is sent to the thread. */
export interface PluginAdapterCode {
  readonly plugin_key: string
  readonly version: number
  readonly format: { readonly kind: 'csv' | 'json' | 'xml' | 'xlsx'; readonly options?: Record<string, unknown> }
  /** Schema of an entry. */
  readonly outputs?: ValueSchema | undefined
  readonly configuration: unknown
  readonly source: string
  readonly limits: SandboxLimits
  readonly sandbox_hash: string
  /** Path of the built script of the sandbox. */
  readonly script: string
}

/** Why a plugin adapter gave no entries: its own fault, or a machine that is too busy. */
export class PluginAdapterFault extends Error {
  readonly fault: PluginFault

  constructor(fault: PluginFault) {
    super(fault.message)
    this.name = 'PluginAdapterFault'
    this.fault = fault
  }
}

export interface PluginFault {
  readonly reason: RunFault | 'output_invalid' | 'overloaded'
  readonly message: string
  readonly line: number | null
  readonly stack: string | null
  readonly fuel: number
}

const MAX_CHUNK_ROWS = 1000
/** The result of a chunk has at most 256 KiB, and entries are often larger than their rows. */
const MAX_CHUNK_CHARS = 80_000
const MAX_STATE_CHARS = 65_536
/** Chunks whose fuel is reported one by one. */
const MAX_REPORTED_CHUNKS = 10_000

/** By the kind of format that a manifest names. */
export const formatReaders = { csv, json, xml: xmlRecords, xlsx } as const

const rowIndex = (rows: number): ValueSchema => ({ type: 'integer', minimum: 0, maximum: Math.max(0, rows - 1) })

/** What `adapter` returns for a chunk of so many rows. */
export const toAdapterSchema = (entry: ValueSchema = {}, rows = MAX_CHUNK_ROWS): ValueSchema => ({
  type: 'object',
  required: ['entries'],
  additionalProperties: false,
  properties: {
    entries: {
      type: 'array',
      items: {
        type: 'object',
        required: ['row', 'entry'],
        additionalProperties: false,
        properties: { row: rowIndex(rows), entry: { type: 'object', ...entry } },
      },
    },
    rejects: {
      type: 'array',
      maxItems: MAX_CHUNK_ROWS,
      items: {
        type: 'object',
        required: ['row', 'reason'],
        additionalProperties: false,
        properties: { row: rowIndex(rows), reason: { type: 'string', minLength: 1, maxLength: 500 } },
      },
    },
    state: {},
  },
})

export interface ChunkOutput {
  readonly entries: readonly { readonly row: number; readonly entry: Entry }[]
  readonly rejects?: readonly { readonly row: number; readonly reason: string }[]
  readonly state?: unknown
}

export interface PluginAdapter extends Adapter {
  /** Fuel of each chunk so far. */
  readonly fuel: readonly number[]
  close(): Promise<void>
}

export function createPluginAdapter(code: PluginAdapterCode): PluginAdapter {
  const runner = new SandboxRunner({ script: code.script })
  const fuel: number[] = []
  const { media_types, file_extensions } = formatReaders[code.format.kind]
  const run = async (rows: readonly ReadEntry[], state: unknown): Promise<ChunkOutput> => {
    const { output, used } = await runChunk(runner, code, rows, state)
    if (fuel.length < MAX_REPORTED_CHUNKS) fuel.push(used)
    return output
  }
  return {
    // What describes an adapter to people is never shown of this one.
    ...csv,
    media_types,
    file_extensions,
    key: `${PLUGIN_ADAPTER_PREFIX}${code.plugin_key}`,
    version: code.version,
    title: code.plugin_key,
    target_type: null,
    fuel,
    read: (source, _options, file_name) => readWithPlugin(source, code, file_name ?? null, run),
    close: () => runner.close(),
  }
}

async function* readWithPlugin(
  source: Source,
  { format }: PluginAdapterCode,
  file_name: string | null,
  run: (rows: readonly ReadEntry[], state: unknown) => Promise<ChunkOutput>,
): AsyncGenerator<Batch, void, undefined> {
  let rows: ReadEntry[] = []
  let chars = 0
  let state: unknown = null
  const unused = new UnusedRows()
  const finish = async (): Promise<Batch> => {
    const given = rows
    rows = []
    chars = 0
    const output = await run(given, state)
    state = output.state ?? null
    unused.add(given, output)
    return toBatch(given, output)
  }
  for await (const batch of formatReaders[format.kind].read(source, format.options ?? {}, file_name)) {
    const { entries, ...rest } = batch
    if (rest.rejects.length + rest.warnings.length + rest.files.length > 0) yield { entries: [], ...rest }
    for (const entry of entries) {
      const length = JSON.stringify(entry.entry).length
      if (rows.length > 0 && (rows.length === MAX_CHUNK_ROWS || chars + length > MAX_CHUNK_CHARS)) yield await finish()
      rows.push(entry)
      chars += length
    }
  }
  if (rows.length > 0) yield await finish()
  yield { entries: [], rejects: [], warnings: unused.finish(), files: [] }
}

/** Rows of which the plugin made neither an entry nor a reject: headings, or rows that it lost. */
class UnusedRows {
  private count = 0
  private read = 0
  private first: ReadEntry['at'] | undefined

  add(rows: readonly ReadEntry[], { entries, rejects = [] }: ChunkOutput): void {
    const used = new Set([...entries, ...rejects].map(({ row }) => row))
    this.read += rows.length
    this.count += rows.length - used.size
    this.first ??= rows.find((_, index) => !used.has(index))?.at
  }

  /** Fails where nothing was made of any row: such a source never replaces a list. */
  finish(): Warning[] {
    if (this.count === 0 || !this.first) return []
    if (this.count === this.read) {
      const rows = `${this.read} ${this.read === 1 ? 'row' : 'rows'}`
      refuseSource('empty_source', `The source holds ${rows}, but the plugin made no entry and no reject of them.`)
    }
    const message = `The plugin made neither an entry nor a reject of ${this.count} of ${this.read} rows.`
    return [{ code: 'rows_without_result', message, at: this.first, count: this.count }]
  }
}

function toBatch(rows: readonly ReadEntry[], { entries, rejects = [] }: ChunkOutput): Batch {
  const at = (row: number): ReadEntry['at'] => (rows[row] as ReadEntry).at
  return {
    entries: entries.map(({ row, entry }) => ({ entry, at: at(row) })),
    rejects: rejects.map(
      ({ row, reason }): Reject => ({
        ...{ code: 'plugin_rejected', pointer: '', at: at(row), message: reason },
        excerpt: JSON.stringify(rows[row]?.entry).slice(0, 200),
      }),
    ),
    warnings: [],
    files: [],
    several_per_row: true,
  }
}

/** Of an output that fits the schema: nobody can say what became of a row that is both. */
export function findContradiction({
  entries,
  rejects = [],
}: ChunkOutput): { pointer: string; message: string } | undefined {
  const refused = new Set(rejects.map(({ row }) => row))
  const index = entries.findIndex(({ row }) => refused.has(row))
  return index < 0 ? undefined : { pointer: `/entries/${index}/row`, message: 'names a row that has a reject too' }
}

async function runChunk(
  runner: SandboxRunner,
  { source, limits, sandbox_hash, configuration, outputs }: PluginAdapterCode,
  rows: readonly ReadEntry[],
  state: unknown,
): Promise<{ readonly output: ChunkOutput; readonly used: number }> {
  const chunk = { first_row: rows[0]?.at.row ?? 1, rows: rows.map(({ entry }) => entry) }
  const items = [{ args: [chunk, state, configuration].map((value) => JSON.stringify(value ?? null)) }]
  const task = { source, entry_point: 'adapter' as const, items, limits, sandbox_hash }
  const [result] = (await runner.run(task).catch(failBusy)) as [SandboxResult]
  const place = `rows ${rows[0]?.at.row} to ${rows.at(-1)?.at.row}`
  if (!result.ok) {
    if (result.reason === 'needs_entries') throw new Error('an adapter has no lists')
    throw new PluginAdapterFault({ ...result, message: `${result.message} (${place})` })
  }
  const output = JSON.parse(result.output) as ChunkOutput
  const fault = findValueFaults(toAdapterSchema(outputs, rows.length), output)[0] ?? findContradiction(output)
  const invalid = (message: string): PluginFault => ({
    ...{ reason: 'output_invalid', message: `${message} (${place})`, line: null, stack: null, fuel: result.fuel },
  })
  if (fault) throw new PluginAdapterFault(invalid(`The member ${fault.pointer} of the result ${fault.message}`))
  if (JSON.stringify(output.state ?? null).length > MAX_STATE_CHARS) {
    throw new PluginAdapterFault(invalid(`The state has more than ${MAX_STATE_CHARS / 1024} KiB`))
  }
  return { output, used: result.fuel }
}

function failBusy(error: unknown): never {
  if (!(error instanceof ThreadFailure)) throw error
  throw new PluginAdapterFault({
    ...{ reason: 'overloaded', message: error.message, line: null, stack: null, fuel: 0 },
  })
}
