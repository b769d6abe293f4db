/** The schemas of all inputs that routes declare, and those inputs whose shape something else describes. */
import { modules } from '#app/modules.ts'

export interface InputSchema {
  readonly type?: string | string[]
  readonly properties?: Record<string, InputSchema>
  readonly items?: InputSchema
  readonly anyOf?: InputSchema[]
  readonly enum?: unknown[]
  readonly pattern?: string
  readonly maxLength?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly additionalProperties?: unknown
  readonly patternProperties?: Record<string, InputSchema>
}

/** Every schema inside a schema, with the path that leads to it. */
function* parts(schema: InputSchema, at: string): Generator<[string, InputSchema]> {
  yield [at, schema]
  for (const [name, inner] of Object.entries(schema.properties ?? {})) yield* parts(inner, `${at}/${name}`)
  for (const inner of [schema.items, ...Object.values(schema.patternProperties ?? {})]) {
    if (inner) yield* parts(inner, `${at}/*`)
  }
  for (const inner of schema.anyOf ?? []) yield* parts(inner, at)
}

/** Every schema of an input that a route declares. */
export const inputs = modules
  .flatMap(({ routes }) => routes)
  .flatMap((route) =>
    (['params', 'query', 'body'] as const).flatMap((part) =>
      route[part] ? [...parts(route[part] as InputSchema, `${route.id} ${part}`)] : [],
    ),
  )
export const hasType = (schema: InputSchema, type: string) => [schema.type].flat().includes(type)

/** Inputs whose shape something else describes: a stored type, an adapter, a matrix, or JSON Schema itself. */
export const describedElsewhere = [
  'convertOdcsContract body/document',
  'createSourceContract body/definition',
  'createSourceContractDraft body/definition',
  'updateSourceContractDraft body/definition',
  'createPlugin body/package/manifest',
  'createPluginVersion body/package/manifest',
  'updatePluginConfiguration body/configuration',
  'createDatasetVersion body/data/*',
  'createDatasetType body/schema',
  'createDatasetType body/examples/*',
  'createDatasetTypeVersion body/schema',
  'createDatasetTypeVersion body/examples/*',
  'validateEntries body/data/*',
  'previewAdapter body/options',
  'startImport body/options',
  'updateOverlay body/entries/*/value',
  'createSubject body/attributes',
  'updateSubject body/attributes',
  'startSubjectBulk body/options',
  'createToolServer body/auth',
  'updateToolServer body/auth',
  'callProvider body/input',
  'testProvider body/input',
  'createProvider body/definition',
  'createProviderDraft body/definition',
  'updateProviderDraft body/definition',
  'createRiskMatrix body/definition',
  'createRiskMatrixDraft body/definition',
  'updateRiskMatrixDraft body/definition',
  'simulateRiskMatrixVersion body/inputs',
  'testRiskMatrixVersion body/cases/*/inputs',
  'createRiskMatrixCase body/inputs',
  'createRule body/definition',
  'createRuleDraft body/definition',
  'updateRuleDraft body/definition',
  'simulateRuleVersion body/inputs',
  'testRuleVersion body/cases/*/inputs',
  'createRuleCase body/inputs',
  'createEvaluation body/inputs',
  'previewEvaluation body/inputs',
  'startEvaluation body/inputs',
  'startEvaluation body/call_inputs/*',
  'exploreEvaluation body/inputs',
  'estimateBatchEvaluation body/items/*/inputs',
  'startBatchEvaluation body/items/*/inputs',
  'createPlaybook body/definition',
  'createPlaybookDraft body/definition',
  'updatePlaybookDraft body/definition',
  'createInvestigationStep body/with',
  'createReportSchedule body/parameters',
  'updateReportSchedule body/parameters',
  'createReport body/parameters',
]
