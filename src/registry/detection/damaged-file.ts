/**
 * Names a file that no adapter reads because it is damaged: the adapter that reads what is left of it recognises it, and its fault on
 * the file as it is says what is wrong and where.
 */
import { type Adapter, SourceFault } from '../adapter.ts'
import type { Guess } from './guess-options.ts'
import type { Sample } from './sample.ts'
import { shortenTable, shortenXml } from './text-sample.ts'
import { tryGuess } from './try-guess.ts'

export interface RefusedGuess {
  readonly guess: Guess
  readonly fault: SourceFault
}

interface Damage {
  readonly looks_like: string
  readonly advice: string
}

/** Faults of a file whose layout may be right. */
const DAMAGE: ReadonlySet<string> = new Set([
  'doctype_refused',
  'encoding_invalid',
  'not_well_formed',
  'record_too_long',
  'truncated',
])

/** Null: no adapter recognises the file. */
export async function describeDamage(
  sample: Sample,
  refused: readonly RefusedGuess[],
  file_name: string | null,
  until_ms: number,
): Promise<Damage | null> {
  const { content } = sample
  const bytes = repairBytes(sample)
  if (bytes === null) return null
  for (const { guess, fault } of refused) {
    if (performance.now() > until_ms) return null
    if (!DAMAGE.has(fault.code)) continue
    const result = await tryGuess({ ...guess, bytes }, sample, file_name)
    if (result === null || result instanceof SourceFault || result.accepted <= result.rejected) continue
    const { adapter } = guess
    const what = adapter.publisher === null ? sample.looks_like : `the ${adapter.title}`
    return { looks_like: `${what}, but ${describeFault(fault)}`, advice: adviseOn(fault, adapter) }
  }
  return content.family === 'xml' ? describeBeginning(sample, refused) : null
}

/** A fault before the end of the first record leaves nothing to recognise; an adapter that knows the root has met it all the same. */
function describeBeginning({ looks_like }: Sample, refused: readonly RefusedGuess[]): Damage | null {
  const damaged = refused.filter(({ guess, fault }) => DAMAGE.has(fault.code) && readsXml(guess.adapter))
  const [first] = damaged
  if (first === undefined) return null
  const { adapter } = first.guess
  const what = damaged.every(({ guess }) => guess.adapter === adapter) ? `the ${adapter.title}` : looks_like
  return { looks_like: `${what}, but ${describeFault(first.fault)}`, advice: adviseOn(first.fault, adapter) }
}

/** A copy that can be read to its end: without a half record, and in ASCII. Only used to recognise the file. */
function repairBytes({ content }: Sample): Buffer | null {
  if (content.family !== 'xml' && content.family !== 'delimited') return null
  const text = content.bytes
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .replaceAll(/[\x80-\xff]/g, '?')
  return Buffer.from(content.family === 'xml' ? shortenXml(text) : shortenTable(text), 'latin1')
}

const readsXml = ({ media_types }: Pick<Adapter, 'media_types'>): boolean =>
  media_types.some((type) => type.endsWith('xml'))

function describeFault({ code, message, at }: SourceFault): string {
  const place = at?.line === undefined ? '' : ` at line ${at.line.toLocaleString('en')}`
  if (code === 'truncated') return `it is cut off${place}`
  if (code === 'doctype_refused') return `it declares a document type${place}`
  if (code === 'not_well_formed') return `it is not well-formed${place}`
  if (code === 'record_too_long') return `a record is too long${place}`
  const encoding = /not valid (UTF-\d+)/.exec(message)?.[1] ?? 'in its encoding'
  return `it is not valid ${encoding}${place}`
}

function adviseOn({ code, message }: SourceFault, { key, media_types }: Adapter): string {
  if (code === 'truncated') {
    const isMarked = key.startsWith('ofac-') && key.endsWith('-csv')
    return isMarked ? `Download it again. ${END_MARK_ADVICE}` : 'Download it again.'
  }
  if (code !== 'encoding_invalid') return message
  return readsXml({ media_types })
    ? 'Download it again. If somebody converted it, its first line must declare the encoding it is in now.'
    : 'Download it again, or save it in UTF-8.'
}

const END_MARK_ADVICE =
  'A complete file of OFAC ends in the byte 0x1A; one without it is read for an existing list with the option "files_without_end_mark".'
