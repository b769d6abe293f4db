/**
 * Finds the adapter that reads a file best: every fitting adapter reads a sample of it, and the results are ranked by rejects and
 * entries. Publishers' adapters use their own type; general ones are tried with the types whose members the columns match, and with
 * a type inferred from the columns.
 */
import { type Adapter, type Source, SourceFault } from '../adapter.ts'
import { adapters, entryTypes } from '../adapters/index.ts'
import { buildColumnMapping } from '../export.ts'
import { describeDamage, type RefusedGuess } from './damaged-file.ts'
import { describeRefusal } from './describe-refusal.ts'
import type { Candidate, Detection, DetectionRequest } from './detection.ts'
import { type Guess, guessAdapterOptions, guessGeneral } from './guess-options.ts'
import { readSample, type Sample } from './sample.ts'
import { toSource, tryGuess } from './try-guess.ts'

const MAX_CANDIDATES = 8
/** All attempts together; those that remain are not made. */
const TOTAL_MS = 12_000

export async function detectAdapter(source: Source, request: DetectionRequest): Promise<Detection> {
  const sample = await readSample(source)
  const until_ms = performance.now() + TOTAL_MS
  const attempts: (Candidate & { readonly fit: number })[] = []
  const refused: RefusedGuess[] = []
  const emptied: Candidate[] = []
  for (const guess of listGuesses(sample, request)) {
    if (performance.now() > until_ms) break
    const result = await tryGuess(guess, sample, request.file_name)
    if (result instanceof SourceFault) refused.push({ guess, fault: result })
    else if (result && result.accepted > 0) attempts.push({ ...result, fit: guess.fit })
    else if (result) emptied.push(result)
  }
  const fewestRejects = Math.min(...attempts.flatMap(({ inferred_type, rejected }) => (inferred_type ? rejected : [])))
  const candidates = attempts
    .sort((a, b) => compareCandidates(a, b, fewestRejects))
    .slice(0, MAX_CANDIDATES)
    .map(({ fit: _, ...candidate }) => candidate)
  const { looks_like, advice, is_whole } = sample
  const isKnown = candidates.some(({ inferred_type }) => inferred_type === null)
  const damage = isKnown || advice !== null ? null : await describeDamage(sample, refused, request.file_name, until_ms)
  if (candidates.length === 0) {
    const refusal = { looks_like, advice: advice ?? describeRefusal(sample, { refused, emptied }, request) }
    return { ...(damage ?? refusal), is_whole, candidates }
  }
  const notes = damage ? [`The file looks like ${damage.looks_like}. ${damage.advice}`] : []
  const noted = candidates.map((one) => ({ ...one, notes: [...notes, ...one.notes] }))
  return { looks_like, advice, is_whole, candidates: noted }
}

type RankedCandidate = Candidate & { readonly fit: number }

/** It loses both rows and columns of the file, and an inferred type would keep those rows. */
const isLossy = ({ columns, rejected }: Candidate, fewestRejects: number): boolean =>
  rejected > fewestRejects && columns.some(({ pointer }) => pointer === null)

/** A type of the tenant that has a column or two in common with the file is not what the file is for. */
const isMostlyUnread = ({ adapter_key, columns }: Candidate): boolean =>
  adapters.get(adapter_key)?.target_type === null &&
  columns.filter(({ pointer }) => pointer === null).length * 2 > columns.length

/**
 * A type that exists before an inferred one, unless that keeps rows of which it loses rows and columns, or rejects most; then fewer
 * rejects, the closer fit, and more entries.
 */
function compareCandidates(a: RankedCandidate, b: RankedCandidate, fewestRejects: number): number {
  const tier = (one: Candidate) => {
    if (one.inferred_type) return 1
    if (isMostlyUnread(one)) return 2
    if (one.accepted < one.rejected && one.rejected > fewestRejects) return 3
    return isLossy(one, fewestRejects) ? 2 : 0
  }
  const share = (one: Candidate) => Math.round((one.rejected / Math.max(1, one.rows)) * 20)
  return tier(a) - tier(b) || share(a) - share(b) || b.fit - a.fit || b.accepted - a.accepted
}

function listGuesses(sample: Sample, request: DetectionRequest): Guess[] {
  const { types, type_key, file_name } = request
  const own = [...adapters.values()].flatMap((adapter): Guess[] => {
    const type = types.find((one) => one.type_key === adapter.target_type) ?? entryTypes.get(adapter.target_type ?? '')
    if (type === undefined || (type_key !== null && type.type_key !== type_key)) return []
    return guessAdapterOptions(adapter, sample).map((guess) => ({
      columns: [],
      ...guess,
      adapter,
      type,
      inferred: null,
    }))
  })
  const general = guessGeneral(
    sample,
    type_key === null ? types : types.filter((one) => one.type_key === type_key),
    file_name,
  )
  // A type inferred from the columns is of no use for a list that has one.
  return [
    ...repeatPrevious(sample, request),
    ...own,
    ...general.filter(({ inferred }) => type_key === null || inferred === null),
  ]
}

/** The way the last file of the list was read, which comes first where it fits. */
function repeatPrevious({ content, looks_like }: Sample, { previous, types, type_key }: DetectionRequest): Guess[] {
  const adapter = adapters.get(previous?.adapter_key ?? '')
  const type = types.find((one) => one.type_key === type_key)
  if (!previous || !adapter || !type || content.family === 'other') return []
  const { options } = previous
  const sheet =
    content.family === 'workbook' && (content.sheets.find(({ name }) => name === options['sheet']) ?? content.sheets[0])
  const bytes = sheet ? sheet.bytes : 'bytes' in content ? content.bytes : null
  if (bytes === null) return []
  const columns = isMappedTable(adapter.key, options) ? { columns: buildColumnMapping(type) } : {}
  const fact = `Looks like ${looks_like}, as in the last import of this list`
  return [
    {
      adapter,
      type,
      options,
      read_options: { ...columns, ...options },
      bytes,
      fact,
      notes: [],
      fit: 1,
      columns: [],
      inferred: null,
    },
  ]
}

/** An import derives the mapping of these from the type. */
const isMappedTable = (adapter_key: string, options: Record<string, unknown>): boolean =>
  ['csv', 'tsv', 'xlsx'].includes(adapter_key) && options['header'] !== false && options['columns'] === undefined

/** Used when an import cannot read a file: what it looks like, and the adapter that reads it. */
export async function describeUnreadable(
  head: Uint8Array,
  { key, title }: Adapter,
  request: DetectionRequest,
): Promise<string> {
  const { looks_like, candidates } = await detectAdapter(toSource(Buffer.from(head)), request)
  const [best] = candidates
  const seen = `The file looks like ${looks_like}.`
  if (!best || best.inferred_type !== null || best.accepted === 0) return `${seen} The adapter ${title} was chosen.`
  const options = Object.keys(best.options).length === 0 ? '' : ` with the options ${JSON.stringify(best.options)}`
  return best.adapter_key === key
    ? `${seen} The adapter ${title} reads it${options}.`
    : `${seen} The adapter ${best.title} reads it${options}; ${title} was chosen.`
}
