/** What an erasure would do to each class of records, and by which rule: a hold, then a retention period, then the request. */
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasedSubject, ErasureClass } from '#kernel/erasure/erasure-class.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import { findSubject, type SubjectRow } from '../records/queries.ts'
import { countSubjectCopies, findJurisdictions, isHeld } from './queries.ts'
import { collectMarks, listErasureClasses } from './run-erasure.ts'
import type { ErasurePreviewView } from './schema.ts'

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
  return { clocks, version }
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

const isClassHeld = async (tx: Tx, { isHeld: check }: ErasureClass, subject: ErasedSubject): Promise<boolean> =>
  (await check?.(tx, subject)) ?? false

/** Fails with `legal_hold` where a hold keeps something that belongs to the subject. */
export async function assertNothingHeld(
  kernel: Capabilities<'modules'>,
  tx: Tx,
  subject: ErasedSubject,
): Promise<void> {
  for (const one of listErasureClasses(kernel)) if (await isClassHeld(tx, one, subject)) fail('legal_hold')
}

export async function previewErasure(
  kernel: Capabilities<'caches' | 'modules' | 'encryption'>,
  tx: Tx,
  subject_id: string,
): Promise<ErasurePreviewView> {
  const subject = assertFound(await findSubject(tx, subject_id))
  const is_held = await isHeld(tx, subject_id)
  const { clocks, version } = await listClocks(kernel, tx)
  const marked = await collectMarks(kernel, tx, subject_id)
  const decide = (record: string | null, isKept = is_held) => (isKept ? held : decideByClocks(subject, clocks, record))
  const classes = [
    { class: 'subject', title: 'Record, search words and reasons of ratings', count: 1, ...decide(DUE_DILIGENCE) },
    {
      class: 'copies',
      title: 'Encrypted copies: decisions, earlier versions, answers of providers',
      count: await countSubjectCopies(tx, subject_id),
      ...decide(DUE_DILIGENCE),
    },
  ]
  for (const one of listErasureClasses(kernel)) {
    const isKept = is_held || (await isClassHeld(tx, one, marked))
    classes.push({
      class: one.name,
      title: one.title,
      count: await one.count(tx, marked),
      ...decide(one.record, isKept),
    })
  }
  const can_erase = classes.every(({ outcome }) => outcome === 'erase')
  return { subject_id, can_erase, classes, retention_clocks: version }
}
