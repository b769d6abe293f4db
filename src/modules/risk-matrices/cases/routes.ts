/**
 * Routes to validate a definition, simulate a decision and run golden cases. Only creating and deleting a case stores
 * anything.
 */
import type { Decision, Explanation, Outcome } from '#decision/model.ts'
import { everyone } from '#kernel/auth/roles.ts'
import { type RedactionContext, tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { closed, pageQuery } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { documentStore, registrySchemas } from '#modules/definitions/index.ts'

import { collectActions, type DecisionPart, filterActions, filterExplanation } from '../action-filter.ts'
import { getActionFilter } from '../audience-list.ts'
import { decideWith } from '../binding/decide-with.ts'
import type { DecisionKind } from '../decision-kind.ts'
import { checkDefinition, hasErrors, runCases } from '../proofs.ts'
import {
  CaseBody,
  CasePage,
  CaseView,
  Simulation,
  SimulationRequest,
  TestReport,
  TestRequest,
  ValidationResult,
} from '../schema.ts'
import { validateDefinition } from '../validation.ts'
import { type GoldenCase, MAX_CASES } from './golden-case.ts'
import { countCases, insertCase, listCases, removeCase } from './queries.ts'

const toDecisionView = (decision: Decision) => ({
  decided: decision.ok,
  outcome: decision.ok ? { ...decision.outcome } : null,
  explanation: decision.ok ? { ...decision.explanation } : null,
  findings: decision.ok ? [] : [...decision.findings],
})

interface DecisionView {
  readonly outcome: Record<string, unknown> | null
  readonly explanation: Record<string, unknown> | null
}

/** The inputs may be those of a real subject. */
async function redactDecisions<T extends DecisionView>(
  views: readonly T[],
  reader: RedactionContext<'caches'>,
): Promise<T[]> {
  const parts = views.flatMap(({ outcome, explanation }) => [outcome, explanation]) as unknown as DecisionPart[]
  const filter = await getActionFilter(reader, collectActions(...parts))
  if (!filter) return [...views]
  return views.map((one) => ({
    ...one,
    outcome: one.outcome && filterActions(one.outcome as unknown as Outcome, filter),
    explanation: filterExplanation(one.explanation as unknown as Explanation | null, filter),
  }))
}

/** Longer than 80 lines: a list of route declarations. */
export function createCaseRoutes(kind: DecisionKind): Route[] {
  const { family, segment, param, word, operations } = kind
  const s = documentStore.createDefinitionSchemas(kind)
  const at = `/${segment}/:${param}` as const

  return [
    tenantRoute(`POST ${at}/versions/:version/validate`, {
      id: operations.validateVersion,
      summary: 'Check a version or the draft: references, bands, completeness over all inputs, golden cases',
      description: 'Each fault has its place and, if possible, example inputs. Stores nothing.',
      roles: ['policy_editor', 'compliance_officer', 'auditor'],
      tx: 'read',
      uses: ['caches', 'metrics', 'plugin_policy', 'threads'],
      params: s.VersionParams,
      query: registrySchemas.OriginQuery,
      reply: [200, ValidationResult],
      stores_nothing: true,
      problems: ['not_found', 'content_corrupt'],
    }).handle(async ({ tx, params, query, kernel }) => {
      const written = await documentStore.getVersionOrDraft(kernel, tx, kind, {
        ...params,
        ...documentStore.readVersionParams(params),
        ...query,
      })
      const { findings, lists } = await validateDefinition(kernel, tx, written)
      return { valid: !hasErrors(findings), findings: findings, lists }
    }),

    tenantRoute(`POST ${at}/versions/:version/simulate`, {
      id: operations.simulateVersion,
      summary: `Decide one given subject with a version or the draft of the ${word}`,
      description: 'Answers outcome, explanation and the list versions used. Stores nothing.',
      roles: ['policy_editor', 'analyst', 'compliance_officer', 'auditor'],
      tx: 'read',
      uses: ['caches', 'metrics', 'plugin_policy', 'threads'],
      executes: 'plugin',
      runs_plugins_of: [family],
      params: s.VersionParams,
      query: registrySchemas.OriginQuery,
      body: SimulationRequest,
      reply: [200, Simulation],
      redact: async (views, reader) => (await redactDecisions([views], reader))[0] ?? views,
      stores_nothing: true,
      problems: ['not_found', 'content_corrupt'],
    }).handle(async ({ tx, params, query, body, kernel }) => {
      const { text } = await documentStore.getVersionOrDraft(kernel, tx, kind, {
        ...params,
        ...documentStore.readVersionParams(params),
        ...query,
      })
      const examined = await checkDefinition(kernel, tx, { family, text }, { valid_at: body.valid_at })
      if (examined.plugin_problem) throw examined.plugin_problem
      const lists = documentStore.toListVersions(examined.lists)
      if (!examined.of) return { ...toDecisionView({ ok: false, findings: examined.findings }), lists }
      return { ...toDecisionView(await decideWith(kernel, tx, examined.of, body.inputs)), lists }
    }),

    tenantRoute(`POST ${at}/versions/:version/test`, {
      id: operations.testVersion,
      summary: 'Run the golden cases, or those of the request, on a version or the draft, with a trace of each',
      roles: ['policy_editor', 'analyst', 'compliance_officer', 'auditor'],
      tx: 'read',
      uses: ['caches', 'metrics', 'plugin_policy', 'threads'],
      executes: 'plugin',
      runs_plugins_of: [family],
      params: s.VersionParams,
      query: registrySchemas.OriginQuery,
      body: TestRequest,
      reply: [200, TestReport],
      redact: async (report, reader) => ({ ...report, results: await redactDecisions(report.results, reader) }),
      stores_nothing: true,
      problems: ['not_found', 'content_corrupt'],
    }).handle(async ({ tx, params, query, body, kernel }) => {
      const { dataset, text } = await documentStore.getVersionOrDraft(kernel, tx, kind, {
        ...params,
        ...documentStore.readVersionParams(params),
        ...query,
      })
      const examined = await checkDefinition(kernel, tx, { family, text })
      if (examined.plugin_problem) throw examined.plugin_problem
      const cases: readonly GoldenCase[] =
        body.cases?.map(({ name, inputs, expected = {} }, index) => ({
          name: name ?? `case ${index + 1}`,
          inputs,
          expected,
        })) ?? (await listCases(tx, dataset, null, MAX_CASES))
      const results = examined.of ? await runCases(kernel, tx, examined.of, cases) : []
      const passed = results.filter((result) => result.passed).length
      return {
        passed,
        failed: cases.length - passed,
        results: results.map(({ decision, differences, ...result }) => ({
          ...result,
          differences: [...differences],
          ...toDecisionView(decision),
        })),
        findings: examined.findings,
        lists: documentStore.toListVersions(examined.lists),
      }
    }),

    tenantRoute(`GET ${at}/test-cases`, {
      id: operations.listCases,
      summary: 'Golden cases: results that every version must give before it is published or put in force',
      roles: everyone,
      tx: 'read',
      uses: ['cursors'],
      params: s.KeyParams,
      query: closed({ ...pageQuery, origin: registrySchemas.OptionalOrigin }),
      reply: [200, CasePage],
      problems: ['not_found'],
    }).handle(async (input) => {
      const dataset = await documentStore.getDefinition(
        input.tx,
        family,
        documentStore.getDefinitionKey(kind, input.params),
        input.query.origin,
      )
      return paginate(input, `${operations.listCases} ${dataset.dataset_id}`, ['case_id'], (after, count) =>
        listCases(input.tx, dataset, after, count),
      )
    }),

    tenantRoute(`POST ${at}/test-cases`, {
      id: operations.createCase,
      summary: 'Add a golden case',
      roles: ['policy_editor', 'compliance_officer'],
      tx: 'write',
      params: s.KeyParams,
      body: CaseBody,
      reply: [201, CaseView],
      problems: ['not_found', 'duplicate', 'conflict', 'transition_not_allowed'],
    }).handle(async ({ tx, params, body, audit }) => {
      const dataset = await documentStore.lockOwnDefinition(tx, family, documentStore.getDefinitionKey(kind, params))
      if ((await countCases(tx, dataset)) >= MAX_CASES) fail('conflict', `A ${word} has at most ${MAX_CASES} cases.`)
      const golden_case = assertFound(await insertCase(tx, dataset, { case_id: uuidv7(), note: null, ...body }))
      audit.recordHashes(null, golden_case)
      return golden_case
    }),

    tenantRoute(`DELETE ${at}/test-cases/:case_id`, {
      id: operations.deleteCase,
      summary: 'Remove a golden case',
      roles: ['policy_editor', 'compliance_officer'],
      tx: 'write',
      params: s.CaseParams,
      reply: [200, CaseView],
      governed: { action: 'golden-cases', head: async () => null },
      problems: ['not_found', 'transition_not_allowed'],
    }).handle(async ({ tx, params, audit }) => {
      const { case_id } = params as unknown as { case_id: string }
      const dataset = await documentStore.lockOwnDefinition(tx, family, documentStore.getDefinitionKey(kind, params))
      const gone = assertFound(await removeCase(tx, dataset, case_id))
      audit.recordHashes(gone, {})
      audit.recordPreview({ golden_case: gone.name, expected: gone.expected }, { golden_case: null })
      return gone
    }),
  ]
}
