/** The template `investigation-pack`: a case from its alerts to its outcome, for a reader without access to the service. */
import { Problem } from '#kernel/problem.ts'
import { declareTemplate, type ListVersion } from '#kernel/report-template.ts'
import { closed, Id } from '#kernel/schema.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { arrangeReport } from './arrange-case.ts'
import { type CollectedCase, collectCase, getCase } from './collect-case.ts'
import { listEvidenceRestrictions } from './queries.ts'

/** In the order of their keys and versions, each once. */
function listVersions({ decisions }: CollectedCase): ListVersion[] {
  const all = decisions.flatMap(({ lists }) =>
    lists.map(({ list_key, version, content_hash }) => ({ list_key, version, content_hash })),
  )
  const byKey = new Map(all.map((one) => [`${one.list_key} ${one.content_hash}`, one]))
  return [...byKey.keys()].sort().map((key) => byKey.get(key) as ListVersion)
}

export const investigationReport = declareTemplate<{ readonly investigation_id: string }, CollectedCase>({
  key: 'investigation-pack',
  version: 6,
  title: 'Investigation',
  description:
    'What was decided and by whom, the narrative with its evidence, what was gathered and done, and how to verify the seal. It belongs to the restriction of its investigation, so only people who may see the case see the report.',
  roles: ['analyst', 'compliance_officer', 'auditor'],
  parameters: closed({ investigation_id: Id({ description: 'The investigation.' }) }),
  check: async (tx, { investigation_id }) => {
    const { subject_id } = await getCase(tx, investigation_id)
    if ((await findSubject(tx, subject_id))?.erased_at !== null) throw new Problem('erased')
  },
  findSubject: async (tx, { investigation_id }) => (await getCase(tx, investigation_id)).subject_id,
  findRestriction: async (tx, { investigation_id }) => (await getCase(tx, investigation_id)).restriction_id,
  collect: async (kernel, tx, { investigation_id }) => {
    const data = await collectCase(kernel, tx, investigation_id)
    const { restriction_id } = data.investigation
    return {
      data,
      decisions: data.decisions.map(({ evaluation_id, document_hash, receipt }) => ({
        evaluation_id,
        document_sha256: document_hash,
        receipt_id: receipt.receipt_id,
        receipt_sha256: receipt.manifest_hash,
      })),
      list_versions: listVersions(data),
      restrictions: [
        restriction_id,
        ...data.alerts.map((alert) => alert.restriction_id),
        ...(await listEvidenceRestrictions(tx, investigation_id)),
      ],
    }
  },
  arrange: arrangeReport,
})
