/** The narrative of an investigation: read, write the next version, list versions. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { assertCase } from '../lifecycle/case-content.ts'
import { findInvestigation, lockInvestigation } from '../queries.ts'
import { InvestigationParams } from '../schema.ts'
import { findFindings, listCaseEvidence, readParagraphs, showParagraphs, writeNarrative } from './narrative.ts'
import { findNarrative, listNarratives } from './queries.ts'
import { Narrative, NarrativeQuery, NarrativeRequest, NarrativeVersionPage, NarrativeVersionQuery } from './schema.ts'
import { readSkeleton } from './skeleton.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const

export const narrativeRoutes = [
  tenantRoute('GET /investigations/:investigation_id/narrative', {
    id: 'getInvestigationNarrative',
    summary: 'Narrative of an investigation with what is missing, and a skeleton from the evidence',
    description:
      'Version 0 where nothing was written yet. Citations of evidence that the caller may not see are left out.',
    roles: readers,
    tx: 'read',
    uses: ['auditKeys', 'encryption', 'integrity', 'modules'],
    params: InvestigationParams,
    query: NarrativeQuery,
    reply: [200, Narrative],
    problems: ['not_found', 'erased', 'content_corrupt', 'not_finished', 'conflict'],
  }).handle(async ({ tx, params, query, kernel, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    const { version, verify = false } = query
    const stored = await findNarrative(tx, row.investigation_id, version ?? null)
    if (version !== undefined) assertFound(stored)
    const evidence = await listCaseEvidence(tx, row.investigation_id)
    const skeleton = await readSkeleton(kernel, tx, row, evidence)
    if (!stored)
      return {
        version: 0,
        content_hash: null,
        paragraphs: [],
        findings: [],
        skeleton,
        written_at: null,
        written_by: null,
      }
    const { paragraphs } = await readParagraphs(kernel, tx, row, stored)
    const findings = await findFindings(kernel, tx, paragraphs, { evidence, verified: verify })
    const { content_hash, written_at, written_by } = stored
    const shown = showParagraphs(paragraphs, evidence).map(({ cites_more: _, ...paragraph }) => paragraph)
    return { version: stored.version, content_hash, paragraphs: shown, findings, skeleton, written_at, written_by }
  }),

  tenantRoute('PUT /investigations/:investigation_id/narrative', {
    id: 'updateInvestigationNarrative',
    summary: 'Write the next version of the narrative',
    description: 'Earlier versions stay. A draft may have findings; an outcome cannot be proposed while there are any.',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    uses: ['auditKeys', 'encryption', 'integrity', 'modules'],
    params: InvestigationParams,
    body: NarrativeRequest,
    reply: [200, Narrative],
    problems: ['not_found', 'revision_stale', 'transition_not_allowed', 'erased'],
  }).handle(async ({ tx, params, body, kernel, audit }) => {
    const row = assertCase(await lockInvestigation(tx, params.investigation_id), audit)
    if (row.state !== 'open') fail('transition_not_allowed', `The investigation is ${row.state}.`)
    const before = await findNarrative(tx, row.investigation_id)
    const known = before?.version ?? 0
    if (body.expected_version !== undefined && body.expected_version !== known)
      fail('revision_stale', `The newest version is ${known}, not ${body.expected_version}. Read it again.`)
    const { paragraphs } = body
    const stored = await writeNarrative(kernel, tx, row, { paragraphs, version: known + 1 })
    const evidence = await listCaseEvidence(tx, row.investigation_id)
    const findings = await findFindings(kernel, tx, paragraphs, { evidence, verified: false })
    const { version, content_hash, written_at, written_by } = stored
    audit.recordDiff(
      { version: known },
      { version, content_hash, paragraphs: paragraphs.length, findings: findings.length },
    )
    const skeleton = await readSkeleton(kernel, tx, row, evidence)
    return { version, content_hash, paragraphs, findings, skeleton, written_at, written_by }
  }),

  tenantRoute('GET /investigations/:investigation_id/narrative/versions', {
    id: 'listInvestigationNarrativeVersions',
    summary: 'Versions of the narrative, newest first',
    roles: readers,
    tx: 'read',
    uses: ['cursors'],
    params: InvestigationParams,
    query: NarrativeVersionQuery,
    reply: [200, NarrativeVersionPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { investigation_id } = assertCase(
      await findInvestigation(input.tx, input.params.investigation_id),
      input.audit,
    )
    return paginate(input, `listInvestigationNarrativeVersions ${investigation_id}`, ['version'], (after, count) =>
      listNarratives(input.tx, investigation_id, after, count),
    )
  }),
]
