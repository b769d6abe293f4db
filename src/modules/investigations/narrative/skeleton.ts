/** A first version to write on: what the evidence and the tasks say, in the order of the questions an examiner asks. Nothing is invented. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import type { evidenceStore } from '#modules/documents/index.ts'
import { decisionRecords } from '#modules/evaluations/index.ts'
import { listResults } from '#modules/providers/index.ts'
import type { Origin } from '../model.ts'
import type { InvestigationRow } from '../queries.ts'
import { listTasks, type TaskRow } from '../tasks/queries.ts'
import type { Paragraph } from './narrative.ts'
import { type AlertFactsRow, listAlertFacts } from './queries.ts'

type EvidenceRow = evidenceStore.EvidenceRow

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const toDay = (instant: string): string => day.format(new Date(instant))

const fact = (text: string, cites: readonly string[] = []): Paragraph => ({ kind: 'fact', text, cites })
const assessment = (text: string): Paragraph => ({ kind: 'assessment', text, cites: [] })

const originTexts: Readonly<Record<Origin, string>> = {
  request: 'at the request of a person',
  alert: 'after an alert',
  trigger: 'because a rating required it',
  schedule: 'by schedule',
}

const isAttached = ({ detached_at, erased_at }: EvidenceRow): boolean => detached_at === null && erased_at === null

export interface SkeletonContent {
  readonly row: Pick<InvestigationRow, 'subject_name' | 'subject_type' | 'created_at' | 'origin'>
  readonly alerts: readonly AlertFactsRow[]
  readonly evidence: readonly EvidenceRow[]
  readonly tasks: readonly Pick<TaskRow, 'title' | 'state' | 'result'>[]
  /** What decisions came to and providers answered, by the id of the evidence. */
  readonly outcomes: ReadonlyMap<string, string>
}

export function createSkeleton({ row, alerts, evidence, tasks, outcomes }: SkeletonContent): Paragraph[] {
  const attached = evidence.filter(isAttached)
  const who = attached.filter(({ kind }) => kind === 'subject_version')
  const rest = attached.filter(({ kind }) => kind !== 'subject_version')
  const name = `Who: ${row.subject_name}, ${row.subject_type}.`
  return [
    who.length === 0
      ? assessment(name)
      : fact(
          name,
          who.map(({ evidence_id }) => evidence_id),
        ),
    assessment(`Why: the case was opened on ${toDay(row.created_at)} ${originTexts[row.origin]}.`),
    ...alerts.map((alert) => assessment(describeAlert(alert))),
    ...rest.map((item) => fact(describeEvidence(item, outcomes.get(item.evidence_id)), [item.evidence_id])),
    ...tasks.flatMap(({ title, state, result }) =>
      state === 'done' && result !== null ? [assessment(`${title}: ${result}`)] : [],
    ),
    assessment('Where and how: '),
    assessment('Conclusion: '),
  ]
}

/** An alert is no evidence, so that what it says is not a fact yet. */
function describeAlert({ title, sentence, facts, first_seen_at }: AlertFactsRow): string {
  const said = [
    ...(sentence === null || sentence === title ? [] : [sentence.replace(/\.$/, '')]),
    ...Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`),
  ]
  return `Alert of ${toDay(first_seen_at)}, ${title}${said.length === 0 ? '' : `: ${said.join('; ')}`}.`
}

const answerTexts = { found: 'an entry was found', not_found: 'nothing was found' } as const

function describeEvidence({ title, source, obtained_at }: EvidenceRow, outcome: string | undefined): string {
  const origin = [source, `obtained on ${toDay(obtained_at)}`].filter(Boolean).join(', ')
  return outcome === undefined
    ? `${title ?? 'Evidence'}: ${origin}.`
    : `${title ?? 'Decision'}: ${outcome} (${origin}).`
}

/** Whether providers found what they were asked for. */
async function readAnswers(tx: Tx, evidence: readonly EvidenceRow[]): Promise<[evidence_id: string, text: string][]> {
  const calls = evidence.filter((item) => item.kind === 'provider_call' && isAttached(item))
  const ids = calls.flatMap(({ object_id }) => (object_id === null ? [] : [object_id]))
  const results = new Map((await listResults(tx, ids)).map(({ call_id, result }) => [call_id, result]))
  return calls.flatMap(({ evidence_id, object_id }): [string, string][] => {
    const result = results.get(object_id ?? '')
    return result === undefined ? [] : [[evidence_id, answerTexts[result]]]
  })
}

/** Decisions that the caller cannot read, and altered ones, are named without what they came to. */
async function readOutcomes(
  kernel: Capabilities<'encryption' | 'integrity'>,
  tx: Tx,
  evidence: readonly EvidenceRow[],
): Promise<ReadonlyMap<string, string>> {
  const outcomes = new Map<string, string>(await readAnswers(tx, evidence))
  for (const { evidence_id, kind, object_id, ...ends } of evidence) {
    if (kind !== 'evaluation' || object_id === null || ends.detached_at !== null || ends.erased_at !== null) continue
    try {
      const { row } = await decisionRecords.getIntactEvaluation(kernel, tx, object_id)
      outcomes.set(evidence_id, row.family === 'rule' ? (row.hit ? 'hit' : 'no hit') : `rated ${row.band ?? 'nothing'}`)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }
  return outcomes
}

export async function readSkeleton(
  kernel: Capabilities<'encryption' | 'integrity'>,
  tx: Tx,
  row: InvestigationRow,
  evidence: readonly EvidenceRow[],
): Promise<Paragraph[]> {
  const { investigation_id } = row
  const alerts = await listAlertFacts(tx, investigation_id)
  const tasks = await listTasks(tx, investigation_id)
  return createSkeleton({ row, alerts, evidence, tasks, outcomes: await readOutcomes(kernel, tx, evidence) })
}
