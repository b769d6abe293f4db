/** Routes that only rules have. */
import { importDmn } from '#decision/import/dmn.ts'
import { importGoRules } from '#decision/import/gorules.ts'
import { everyone } from '#kernel/auth/roles.ts'
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { datasetStore, documentStore } from '#modules/definitions/index.ts'
import { validateDefinition } from '#modules/risk-matrices/index.ts'
import { conditionForms, createRuleKey, hitPolicies, placeholders } from './rule-functions.ts'
import { ruleKind } from './rule-kind.ts'
import { ImportReply, ImportRequest, RuleFunctions, Typologies } from './schema.ts'
import { listTypologies } from './typologies.ts'

const MAX_LISTS = 200
const anyList = { origin: null, state: 'live', type_key: null, key_prefix: null }

export const ruleRoutes: readonly Route[] = [
  tenantRoute('GET /rules/functions', {
    id: 'listRuleFunctions',
    summary: 'Tests, hit policies, words and lists that a rule may use',
    roles: everyone,
    tx: 'one',
    reply: [200, RuleFunctions],
  }).handle(async ({ tx }) => {
    const lists = await datasetStore.listDatasets(tx, anyList, null, MAX_LISTS)
    const distinct = new Map(lists.map(({ list_key, title }) => [list_key, { list_key, title }]))
    return {
      tests: conditionForms,
      hit_policies: hitPolicies,
      words: placeholders,
      lists: [...distinct.values()],
    }
  }),

  tenantRoute('GET /rules/typologies', {
    id: 'listTypologies',
    summary: 'The typologies that rules are tagged with, and which rules cover each',
    roles: everyone,
    tx: 'one',
    reply: [200, Typologies],
  }).handle(async ({ tx }) => listTypologies(tx)),

  tenantRoute('POST /rules/import', {
    id: 'importRules',
    summary: 'Import decisions from DMN or GoRules as drafts of new rules',
    description:
      'Decision tables with an exact equivalent become rules with a draft each. So do expressions of a GoRules graph that ' +
      'compare fields with literals and choose between literals, and switches; each rule says which others give its inputs, and ' +
      'the branch it depends on. Everything else is reported node by node, with its place and the reason. Nothing is imported ' +
      'approximately: a number with more digits than an input reads is refused when it is decided on, and the findings say how ' +
      'many it reads. Nothing is published.',
    roles: ['policy_editor'],
    tx: 'self',
    uses: ['caches', 'metrics', 'plugin_policy', 'threads'],
    body: ImportRequest,
    reply: [201, ImportReply],
    problems: ['source_invalid', 'duplicate', 'list_key_reserved'],
  }).handle(async ({ body, kernel, settle, audit }) => {
    const { definitions, findings } = await (body.format === 'dmn' ? importDmn(body.text) : importGoRules(body.text))
    if (definitions.length === 0) {
      const detail = findings[0]?.message ?? 'The file holds no decision table.'
      fail('source_invalid', { detail: detail.slice(0, 1000), members: { findings: findings.slice(0, 200) } })
    }
    return settle(JSON.stringify(body), async (tx) => {
      const taken = new Set<string>()
      const keys = new Map(
        definitions.map(({ name, place }) => [place, createRuleKey(name, body.key_prefix ?? '', taken)]),
      )
      const getRuleKey = (place: string | null): string | null => (place === null ? null : (keys.get(place) ?? null))
      const items = await mapWithPrecompute(definitions, async ({ name, place, definition, reads, only_if }) => {
        const rule_key = getRuleKey(place) as string
        const text = definition as unknown as Record<string, unknown>
        const title = name.trim().slice(0, 200) || rule_key
        const dataset = await documentStore.createDefinition(kernel, tx, ruleKind, {
          key: rule_key,
          title,
          definition: text,
        })
        const validation = await validateDefinition(kernel, tx, { dataset, text })
        return {
          rule_key,
          name,
          place,
          reads: reads.map(({ rule, ...link }) => ({ ...link, rule_key: getRuleKey(rule) })),
          only_if: only_if.map(({ rule, ...branch }) => ({ ...branch, rule_key: getRuleKey(rule) })),
          findings: validation.findings,
        }
      })
      audit.recordDiff(null, { format: body.format, rules: items.map(({ rule_key }) => rule_key) })
      return { items, findings: findings }
    })
  }),
]
