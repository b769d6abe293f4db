/** The template `decision-explanation`: one decision, why it was made, and what it was made on. */
import { nameActors } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { CollectCapabilities, ReportFormat, ReportSection } from '#kernel/report-template.ts'
import { declareTemplate } from '#kernel/report-template.ts'
import { closed, Id } from '#kernel/schema.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { refuse } from '../create-report.ts'
import {
  arrangeReasons,
  collectDecision,
  describeOutcome,
  loadBands,
  mergeListVersions,
  nameActions,
  toCited,
  toListVersions,
} from './decision-parts.ts'
import { showEntryKey, showEntryValue } from './entry-texts.ts'
import { findEvaluationSubject } from './queries.ts'
import { findRequesters, listRequesters, nameRequester } from './requesters.ts'
import { showInput } from './value-texts.ts'

interface Parameters {
  readonly evaluation_id: string
}

async function collectExplanation(kernel: CollectCapabilities, tx: Tx, evaluation_id: string) {
  const decision = await collectDecision(kernel, tx, evaluation_id)
  const subject = decision.subject_id === null ? null : await findSubject(tx, decision.subject_id)
  const { bands } = await loadBands(kernel, tx)
  const requesters = await findRequesters(tx, { actors: [decision.created_by], batch_ids: [] })
  return {
    decision,
    subject: subject
      ? {
          name: subject.name,
          subject_type: subject.subject_type,
          external_id: subject.external_id,
          subject_id: subject.subject_id,
        }
      : null,
    bands,
    requesters,
    names: await nameActors(tx, [decision.created_by, ...listRequesters(requesters)]),
  }
}
type Data = Awaited<ReturnType<typeof collectExplanation>>

/** What the decision was made on. */
const arrangeInputs = (
  { explanation, used, used_texts, evidence, labels, input_texts }: Data['decision'],
  format: ReportFormat,
): ReportSection => ({
  title: 'Inputs and versions',
  blocks: [
    {
      kind: 'table',
      title: 'Inputs',
      columns: [
        { title: 'Input', width: 2 },
        { title: 'Value', width: 4 },
        { title: 'Given', width: 0 },
      ],
      rows: explanation.inputs.map(({ name, value, defaulted }) => [
        labels[name] ?? name,
        showInput(value, input_texts[name], format),
        defaulted ? 'default' : 'yes',
      ]),
      empty: 'It has no inputs.',
    },
    {
      kind: 'table',
      title: 'Entries that were read',
      columns: [
        { title: 'List', width: 3 },
        { title: 'Entry', width: 4 },
        { title: 'Value', width: 3 },
      ],
      rows: used.map((entry, at) => {
        const text = used_texts[at] ?? {}
        return [entry.list_key, showEntryKey(entry, text), showEntryValue(entry, text, format)]
      }),
      empty: 'No list was read.',
    },
    {
      kind: 'table',
      title: 'Answers of providers',
      columns: [
        { title: 'Source contract', width: 3 },
        { title: 'Version', width: 0, align: 'right' },
        { title: 'Inputs', width: 5 },
      ],
      rows: evidence.map(({ contract_key, contract_version, inputs }) => [
        contract_key,
        String(contract_version),
        inputs.map(({ input, fact }) => `${input} from ${fact}`).join(', '),
      ]),
      empty: 'It rests on no answer of a provider.',
    },
  ],
})

function arrange({ decision, subject, bands, names, requesters }: Data, format: ReportFormat) {
  const { outcome, definition } = decision
  const said = describeOutcome(decision, bands, format)
  const family = definition.family === 'matrix' ? 'Risk matrix' : 'Rule'
  return {
    title: 'Decision explanation',
    subtitle: subject ? subject.name : `Decision ${decision.evaluation_id}`,
    reference: subject?.external_id ?? definition.key,
    blocks: [
      {
        kind: 'callout' as const,
        tone: said.tone,
        title: said.title,
        text:
          outcome.required_actions.length > 0
            ? `Required actions: ${nameActions(outcome.required_actions, decision)}`
            : 'No action is required.',
      },
      {
        kind: 'facts' as const,
        items: [
          ...(subject
            ? [
                { label: 'Subject', value: `${subject.name} (${subject.subject_type})`, style: 'strong' as const },
                { label: 'External id', value: subject.external_id ?? '–' },
              ]
            : []),
          { label: family, value: `${definition.key}, version ${definition.version}` },
          {
            label: 'Decided',
            value: `${format.instant(decision.decided_at)} by ${nameRequester(requesters, names, decision.created_by)}`,
          },
          { label: 'On the state of', value: format.instant(decision.valid_at) },
          { label: 'Decision', value: decision.evaluation_id, style: 'code' as const },
          { label: 'SHA-256 of its document', value: decision.document_hash, style: 'code' as const },
          ...(decision.is_test ? [{ label: 'Test', value: 'It cites answers of a test environment.' }] : []),
        ],
      },
    ],
    sections: [{ title: 'Why', blocks: arrangeReasons(decision, bands, format) }, arrangeInputs(decision, format)],
  }
}

export const decisionExplanation = declareTemplate<Parameters, Data>({
  key: 'decision-explanation',
  version: 4,
  title: 'Decision explanation',
  description: 'One decision: outcome, reasons, inputs, and the list versions it was made on.',
  // Actions for people only: no machine reads it.
  roles: ['analyst', 'compliance_officer', 'auditor'],
  parameters: closed({ evaluation_id: Id({ description: 'The decision.' }) }),
  check: async (tx, { evaluation_id }) => {
    if (!(await findEvaluationSubject(tx, evaluation_id)))
      refuse('parameters/evaluation_id', 'There is no evaluation with this id.')
  },
  findSubject: async (tx, { evaluation_id }) => (await findEvaluationSubject(tx, evaluation_id))?.subject_id ?? null,
  collect: async (kernel, tx, { evaluation_id }) => {
    const data = await collectExplanation(kernel, tx, evaluation_id)
    return {
      data,
      decisions: [toCited(data.decision)],
      list_versions: mergeListVersions(toListVersions(data.decision)),
      restrictions: [],
    }
  },
  arrange,
})
