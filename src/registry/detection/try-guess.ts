/** Reads a sample as one guess says, in the way of a preview. */
import { type Reject, SourceFault } from '../adapter.ts'
import { findOptionFaults } from '../adapter-options.ts'
import type { ImportTotals } from '../import/import-messages.ts'
import { runImport } from '../import/pipeline.ts'
import type { Candidate } from './detection.ts'
import type { Guess } from './guess-options.ts'
import type { Sample } from './sample.ts'

const LIMITS = { max_rows: 2000, time_limit_ms: 2000 }

/** A fault: the source is refused as a whole; null: no reading was possible. */
type Attempt = Candidate | SourceFault | null

export async function tryGuess(guess: Guess, sample: Sample, file_name: string | null): Promise<Attempt> {
  const { adapter, type, options, bytes } = guess
  if (findOptionFaults(adapter, options).length > 0) return null
  const read_options = guess.read_options ?? options
  let first_reject: Reject | null = null
  let totals: ImportTotals | null = null
  try {
    // Most adapters refuse another layout at once; that is cheaper than compiling the type.
    for await (const _ of adapter.read(toSource(bytes), read_options, file_name)) break
    const request = {
      ...{ adapter_key: adapter.key, file_name, options: read_options, type },
      ...{ strict: false, drop: [], hash: [], hash_key: null, filled: [], preview: 1, preview_limits: LIMITS },
    }
    for await (const output of runImport(adapter, toSource(bytes), request)) {
      if (output.kind === 'rejects') first_reject ??= output.items.find(({ at }) => at.row > 0) ?? null
      else if (output.kind === 'end') totals = output.totals
    }
  } catch (error) {
    if (error instanceof SourceFault) return error
    throw error
  }
  if (totals === null) return null
  const { rows, accepted, rejected } = totals
  return {
    adapter_key: adapter.key,
    title: adapter.title,
    type_key: guess.inferred ? null : type.type_key,
    options,
    ...{ rows, accepted, rejected, first_reject },
    reason: formatReason(guess, sample, { rows, accepted }),
    notes: guess.notes,
    columns: guess.columns,
    inferred_type: guess.inferred,
  }
}

function formatReason(
  { fact }: Guess,
  { is_whole }: Sample,
  { rows, accepted }: { rows: number; accepted: number },
): string {
  const where = is_whole ? '' : ' in the first part of the file'
  return `${fact}, ${accepted.toLocaleString('en')} of ${rows.toLocaleString('en')} entries read${where}.`
}

export async function* toSource(bytes: Buffer): AsyncGenerator<Uint8Array> {
  // A copy: readers may keep or transfer what they are given.
  yield new Uint8Array(bytes)
}
