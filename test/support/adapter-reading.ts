/** For tests: reads a source with an adapter and returns everything it yields. */
import type { Adapter, Batch, Entry, ReadEntry, Reject, Source, SourceFile, Warning } from '#registry/adapter.ts'
import { adapters } from '#registry/adapters/index.ts'

export interface AdapterReading {
  readonly entries: Entry[]
  readonly read: ReadEntry[]
  readonly rejects: Reject[]
  readonly warnings: Warning[]
  readonly files: SourceFile[]
  readonly batches: Batch[]
}

export function getAdapter(key: string): Adapter {
  const found = adapters.get(key)
  if (!found) throw new Error(`no adapter ${key}`)
  return found
}

export async function readWithAdapter(
  key: string,
  source: Source,
  options: Record<string, unknown> = {},
  file_name: string | null = null,
): Promise<AdapterReading> {
  const reading: AdapterReading = { entries: [], read: [], rejects: [], warnings: [], files: [], batches: [] }
  for await (const batch of getAdapter(key).read(source, options, file_name)) {
    reading.batches.push(batch)
    reading.read.push(...batch.entries)
    reading.entries.push(...batch.entries.map(({ entry }) => entry))
    reading.rejects.push(...batch.rejects)
    reading.warnings.push(...batch.warnings)
    reading.files.push(...batch.files)
  }
  return reading
}
