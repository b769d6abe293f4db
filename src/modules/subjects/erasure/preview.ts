/** What an erasure would do to each class of records, and by which rule: a hold, an open investigation, a retention period, the request. */
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasedSubject, ErasureClass, NamedRow } from '#kernel/erasure/erasure-class.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import { findSubject, type SubjectRow } from '../records/queries.ts'
import { collectMarks } from './marks.ts'
import { countSubjectCopies, type ErasureRow, findJurisdictions, isHeld, isSubjectHeld } from './queries.ts'
import { listErasureClasses } from './run-erasure.ts'
import { type ErasurePreviewView, MAX_REVIEW } from './schema.ts'

const CLOCK_LIST = 'retention-clocks'
const GROUP_LIST = 'jurisdiction-groups'
/** What subjects, their ratings and decisions are. */
const DUE_DILIGENCE = 'due-diligence'

interface Clock {
  readonly jurisdiction: string
  readonly record: string
  readonly keep_months: number
  readonly starts_at: string
  readonly legal_basis: string
  readonly source: string
}

interface Group {
  readonly group: string
  readonly country: string
}

/** The clocks of the tenant's jurisdictions, and of the groups that these belong to. */
async function listClocks(kernel: Capabilities<'caches'>, tx: Tx) {
  const own = await findJurisdictions(tx)
  const groups = await resolver.loadPolicyList<Group>(kernel, tx, GROUP_LIST)
  const places = new Set([
    ...own,
    ...(groups?.entries ?? []).filter(({ country }) => own.includes(country)).map(({ group }) => group),
  ])
  const list = await resolver.loadPolicyList<Clock>(kernel, tx, CLOCK_LIST)
  const clocks = (list?.entries ?? []).filter(({ jurisdiction }) => places.has(jurisdiction))
  const version = list && { version: list.pointer.version, content_hash: list.pointer.content_hash }
  return { clocks, version, jurisdictions: [...own] }
}

/** Without a period everything looks free to erase, so the absence is said. */
function listWarnings(jurisdictions: readonly string[], clocks: readonly Clock[]): ErasurePreviewView['warnings'] {
  if (jurisdictions.length === 0) return ['no_jurisdiction']
  return clocks.length === 0 ? ['no_retention_period'] : []
}

function addMonths(from: string, months: number): string {
  const date = new Date(from)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, last))
  return date.toISOString()
}

type Verdict = Pick<ErasurePreviewView['classes'][number], 'outcome' | 'rule' | 'keep_until' | 'clock'>

const erased: Verdict = { outcome: 'erase', rule: 'request', keep_until: null, clock: null }
const held: Verdict = { outcome: 'keep', rule: 'hold', keep_until: null, clock: null }
const open: Verdict = { outcome: 'keep', rule: 'open_case', keep_until: null, clock: null }

/** The period that ends last, if it has not ended. All of them start when the relationship ends. */
function decideByClocks(subject: SubjectRow, clocks: readonly Clock[], record: string | null): Verdict {
  const applying = clocks.filter((clock) => clock.record === record && clock.starts_at === 'end-of-relationship')
  const [longest] = applying.toSorted((one, two) => two.keep_months - one.keep_months)
  if (!longest) return erased
  const keep_until = subject.offboarded_at === null ? null : addMonths(subject.offboarded_at, longest.keep_months)
  if (keep_until !== null && Date.parse(keep_until) <= Date.now()) return erased
  const { jurisdiction, keep_months, legal_basis, source } = longest
  const clock = { jurisdiction, record: longest.record, keep_months, legal_basis, source }
  return { outcome: 'keep', rule: 'retention', keep_until, clock }
}

/** Over all restrictions that the caller sees. */
async function countRows(tx: Tx, one: ErasureClass, subject: ErasedSubject) {
  const found = await one.find(tx, subject)
  const sum = (name: 'by_id' | 'by_mark' | 'left_for_review' | 'kept_by_hold' | 'held_by_id' | 'open_by_id') =>
    found.reduce((all, rows) => all + rows[name], 0)
  return {
    counts: {
      count: sum('by_id') + sum('by_mark'),
      ...{ by_id: sum('by_id'), by_mark: sum('by_mark') },
      ...{ left_for_review: sum('left_for_review'), kept_by_hold: sum('kept_by_hold') },
      review: [...new Set(found.flatMap(({ review }) => review))].toSorted().slice(0, MAX_REVIEW),
    },
    is_held: sum('held_by_id') > 0,
    is_open: sum('open_by_id') > 0,
  }
}

/** Fails where a hold keeps something that belongs to the subject, or an investigation that is not ended. */
export async function assertNothingKept(
  kernel: Capabilities<'modules'>,
  tx: Tx,
  subject: ErasedSubject,
): Promise<void> {
  for (const one of listErasureClasses(kernel)) {
    const { is_held, is_open } = await countRows(tx, one, subject)
    if (is_held) fail('legal_hold')
    if (is_open) fail('open_case')
  }
}

type Naming = Pick<ErasureRow, 'subject_id' | 'also'>

/** Of what a request names, the rows that are left for review, with their restrictions. */
export async function findNamedRows(
  kernel: Capabilities<'modules' | 'encryption'>,
  tx: Tx,
  { subject_id, also }: Naming,
) {
  if (also.length === 0) return []
  const subject = await collectMarks(kernel, tx, subject_id, also)
  const rows: (NamedRow & { readonly restriction_id: string | null })[] = []
  for (const one of listErasureClasses(kernel)) {
    if (!also.some((row) => row.class === one.name)) continue
    for (const { restriction_id, named } of await one.find(tx, subject))
      rows.push(...named.map((id) => ({ class: one.name, id, restriction_id })))
  }
  return rows
}

/** Fails where the request names something that is not left for review: nothing else can be added to an erasure. */
export async function assertReviewed(kernel: Capabilities<'modules' | 'encryption'>, tx: Tx, naming: Naming) {
  const rows = await findNamedRows(kernel, tx, naming)
  const named = new Set(rows.map((row) => `${row.class} ${row.id}`))
  const other = naming.also.find((row) => !named.has(`${row.class} ${row.id}`))
  if (other) fail('conflict', `Not everything that is named of ${other.class} is left for review.`)
  return rows
}

const NONE = { by_mark: 0, left_for_review: 0, kept_by_hold: 0, review: [] as string[] }

export async function previewErasure(
  kernel: Capabilities<'caches' | 'modules' | 'encryption'>,
  tx: Tx,
  { subject_id, also = [] }: { readonly subject_id: string; readonly also?: readonly NamedRow[] },
): Promise<ErasurePreviewView> {
  const subject = assertFound(await findSubject(tx, subject_id))
  const is_held = await isHeld(tx, subject_id)
  const { clocks, version, jurisdictions } = await listClocks(kernel, tx)
  const marked = await collectMarks(kernel, tx, subject_id, also)
  const decide = (record: string | null, isKept = is_held) => (isKept ? held : decideByClocks(subject, clocks, record))
  const copies = await countSubjectCopies(tx, subject_id)
  const classes = [
    {
      class: 'subject',
      title: 'Record, search words and reasons of ratings',
      ...{ count: 1, by_id: 1, ...NONE },
      ...decide(DUE_DILIGENCE),
    },
    {
      class: 'copies',
      title: 'Encrypted copies: decisions, earlier versions, answers of providers',
      ...{ count: copies, by_id: copies, ...NONE },
      ...decide(DUE_DILIGENCE),
    },
  ]
  for (const one of listErasureClasses(kernel)) {
    const found = await countRows(tx, one, marked)
    const isOpen = found.is_open && !is_held && !found.is_held
    classes.push({
      class: one.name,
      title: one.title,
      ...found.counts,
      ...(isOpen ? open : decide(one.record, is_held || found.is_held)),
    })
  }
  // What is held and hidden is in no class: all of them are kept, as by a hold on the subject.
  if (!classes.some(({ rule }) => rule === 'hold') && (await isSubjectHeld(tx, subject_id)))
    for (const one of classes) Object.assign(one, held)
  const can_erase = classes.every(({ outcome }) => outcome === 'erase')
  const warnings = listWarnings(jurisdictions, clocks)
  return { subject_id, can_erase, classes, retention_clocks: version, jurisdictions, warnings }
}
