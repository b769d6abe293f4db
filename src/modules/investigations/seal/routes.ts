/** The seal of a closed investigation, and its archive. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { streamReply } from '#kernel/route.ts'
import { Count, closed, integer, nullable, Timestamp, Type, text } from '#kernel/schema.ts'
import { assertCase } from '../lifecycle/case-content.ts'
import { findInvestigation } from '../queries.ts'
import { InvestigationParams, Principal } from '../schema.ts'
import { createPack, expectSeal } from './pack.ts'
import { listSeals } from './queries.ts'

const Seal = closed(
  {
    seal_no: Count,
    manifest: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Ids, codes and hashes with the signature, as `probity verify` checks it.',
    }),
    manifest_hash: text(64),
    key_id: text(100),
    sealed_at: Timestamp(),
    sealed_by: Principal,
    earlier: Type.Array(
      closed({ seal_no: Count, manifest_hash: text(64), sealed_at: Timestamp(), sealed_by: Principal }),
      { description: 'Seals of the times it was closed before, newest first.' },
    ),
    outcome: nullable(text(60)),
  },
  { title: 'InvestigationSeal' },
)

const PackQuery = closed({
  seal_no: Type.Optional(
    integer(1, 1_000_000, { description: 'Of a case that was closed more than once; the newest when absent.' }),
  ),
})

export const sealRoutes = [
  tenantRoute('GET /investigations/:investigation_id/seal', {
    id: 'getInvestigationSeal',
    summary: 'The newest signed seal of an investigation',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    params: InvestigationParams,
    reply: [200, Seal],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    const { seal_no, manifest, manifest_hash, key_id, sealed_at, sealed_by } = await expectSeal(tx, row)
    const all = await listSeals(tx, row.investigation_id)
    const earlier = all.slice(1).map((seal) => ({
      seal_no: seal.seal_no,
      manifest_hash: seal.manifest_hash,
      sealed_at: seal.sealed_at,
      sealed_by: seal.sealed_by,
    }))
    const outcome = (manifest['outcome'] as string | undefined) ?? null
    return { seal_no, manifest, manifest_hash, key_id, sealed_at, sealed_by, earlier, outcome }
  }),

  tenantRoute('GET /investigations/:investigation_id/pack', {
    id: 'getInvestigationPack',
    summary: 'What was sealed of an investigation, in one archive for an examiner',
    description:
      'A zip archive of the newest seal, or of an earlier one by its number, named after the reference of the case, that `probity verify pack` checks offline: seal, narrative, playbook, steps, tasks, requests for information, timeline, who closed it and why, and the list of the evidence with its sources and hashes. It does not hold the documents, answers of providers and decisions that the evidence names: an archive that has left the service cannot be erased. `documents.json` has the SHA-256 of each file, so that `--document` of the command says which evidence a file is.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['auditKeys', 'caches', 'encryption'],
    params: InvestigationParams,
    query: PackQuery,
    reply: [200, streamReply('application/zip', 'A zip archive.')],
    audited: true,
    problems: ['not_found', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    const bytes = await createPack(kernel, tx, row, query.seal_no)
    const stream = (async function* () {
      yield bytes
    })()
    return Object.assign(stream, { file_name: `${row.reference}.zip` })
  }),
]
