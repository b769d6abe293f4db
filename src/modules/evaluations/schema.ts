/** Wire contract of decisions: request, outcome and explanation. */
import {
  closed,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

const { Sha256 } = registrySchemas
export const Version = integer(1, Number.MAX_SAFE_INTEGER)
export const Bps = integer(0, 10_000, { description: 'In basis points.' })
export const Band = text(100, {
  description: 'A band of the matrix, as its list of bands names it.',
  examples: ['high'],
})
export const AnyJson = (description: string) => Type.Unsafe<unknown>({ description })
export const AnyObject = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })

export const EvaluationParams = closed({ evaluation_id: Id() })

/** The matrix or rule declares the members, so its engine reports their faults. */
export const Inputs = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: 100, description })

const MatrixKey = Slug({
  description:
    'The matrix that decides. Either this or rule_key. From the start there are customer-risk-person and customer-risk-company; ' +
    'GET /api/risk-matrices lists all.',
  examples: ['customer-risk-person'],
})
const RuleKey = Slug({
  description: 'The rule that decides. Either this or matrix_key.',
  examples: ['cash-structuring'],
})

const MAX_CITED_CALLS = 20

export const EvaluationRequest = closed({
  matrix_key: Type.Optional(MatrixKey),
  rule_key: Type.Optional(RuleKey),
  subject_id: Type.Optional(
    Id({
      description: 'The subject: its attributes are inputs, and it gets the rating. Members of inputs take precedence.',
    }),
  ),
  inputs: Type.Optional(Inputs('By the names the matrix or rule declares.')),
  valid_at: Type.Optional(
    Timestamp({ description: 'Decide with the versions in force at this instant; now when absent.' }),
  ),
  call_ids: Type.Optional(
    Type.Array(Id(), {
      maxItems: MAX_CITED_CALLS,
      uniqueItems: true,
      description:
        'Calls of providers whose admitted answers give the inputs that come from their contracts. A call in quarantine, without ' +
        'an answer, about another subject or no longer fresh is refused.',
    }),
  ),
})

export const Outcome = closed(
  {
    family: oneOf(['matrix', 'rule']),
    band: nullable(Band),
    scored_band: nullable(text(100, { description: 'The band of the score alone, before triggers.' })),
    score_bps: nullable(Bps),
    hit: nullable(Type.Boolean({ description: 'Of a rule: whether it holds.' })),
    outputs: nullable(AnyObject('Of a rule: what its rows gave.')),
    required_actions: listOf(text(200), 1000),
    reason_codes: listOf(text(200), 1000),
  },
  { title: 'EvaluationOutcome' },
)

const FactorExplanation = closed(
  {
    key: text(100),
    title: text(500),
    score_bps: Bps,
    weight_bps: nullable(Bps),
    contribution_bps: text(50, { description: 'Exact, with four decimals.' }),
    reason: Type.String(),
    reason_code: nullable(text(200)),
    read: AnyObject('The inputs it read, with their values.'),
    found: Type.Optional(
      Type.Array(
        closed({
          list_key: Slug(),
          key: Type.String(),
          field: nullable(Type.String()),
          value: AnyJson('What the list said.'),
        }),
      ),
    ),
    rows: Type.Optional(Type.Array(text(200), { description: 'The rows of its table that fired.' })),
    defaulted: Type.Optional(
      Type.Boolean({ description: 'The list had no such key, and the stated default was used.' }),
    ),
    plugin: Type.Optional(
      closed(
        { plugin_key: Slug(), values: AnyObject('What it says beside its score.') },
        { description: 'The plugin that scored the factor.' },
      ),
    ),
  },
  { title: 'FactorExplanation' },
)
export const Explanation = closed(
  {
    inputs: Type.Array(
      closed({
        name: text(200),
        value: AnyJson('As it was decided on.'),
        defaulted: Type.Boolean({ description: 'It was not given, and the declared default was used.' }),
      }),
    ),
    factors: Type.Array(FactorExplanation),
    triggers: Type.Array(
      closed({
        key: text(100),
        title: text(500),
        floor_band: nullable(text(100)),
        required_actions: Type.Array(text(200)),
        reason: Type.String(),
        reason_code: text(200),
      }),
    ),
    rows: Type.Array(closed({ key: text(200), reason: nullable(Type.String()), reason_code: nullable(text(200)) }), {
      description: 'Of a rule: the rows that fired.',
    }),
    summary: Type.Array(Type.String(), { description: 'The decision in sentences.' }),
  },
  { title: 'EvaluationExplanation' },
)

const Reasons = listOf(
  closed(
    {
      code: text(200),
      title: Type.String({ description: 'Of the triggers and factors that gave it.' }),
      text: Type.String({ description: 'What they say of this decision.' }),
    },
    { title: 'ReasonInWords' },
  ),
  1000,
  { description: 'Each reason code in the words of the definition that decided.' },
)

/** The pinned versions of the definition and of each list it read. */
const Pinned = closed(
  {
    list_key: Slug(),
    origin: registrySchemas.Origin,
    via: text(20, { description: 'Why this version: tenant-own, tenant-pin or shared.' }),
    version: Version,
    content_hash: Sha256,
    overlay_version: nullable(Version),
    overlay_hash: nullable(Sha256),
  },
  { title: 'PinnedVersion' },
)
const Definition = closed(
  {
    family: oneOf(['matrix', 'rule']),
    key: Slug(),
    origin: registrySchemas.Origin,
    version: Version,
    content_hash: Sha256,
  },
  { title: 'PinnedDefinition' },
)
/** Members of a view that names the versions of a decision. */
export const pinnedVersions = { definition: Definition, lists: listOf(Pinned, 200) }
const Receipt = closed(
  { receipt_id: Id(), manifest_hash: Sha256, valid_at: Timestamp(), known_at: Timestamp() },
  { title: 'EvaluationReceipt' },
)

const row = {
  evaluation_id: Id(),
  family: oneOf(['matrix', 'rule']),
  definition_key: Slug(),
  definition_version: Version,
  subject_id: nullable(Id()),
  valid_at: Timestamp(),
  band: nullable(Band),
  score_bps: nullable(Bps),
  hit: nullable(Type.Boolean()),
  reason_codes: listOf(text(200), 1000),
  required_actions: listOf(text(200), 1000),
  engine: Version,
  document_hash: Sha256,
  decided_at: Timestamp(),
  created_by: text(200),
}
const IsTest = Type.Boolean({
  description: 'Made on answers that were recorded, declared or given by a test environment, not live.',
})
export const EvaluationItem = closed(
  {
    ...row,
    subject_name: nullable(text(500, { description: 'As it is now; null: no subject.' })),
    is_test: IsTest,
    intact: Type.Boolean({ description: 'False: the stored record was altered outside the service.' }),
    is_erased: Type.Boolean({ description: 'The document was erased with its subject; outcome and hash remain.' }),
  },
  { title: 'EvaluationItem' },
)
export const EvaluationPage = pageOf(EvaluationItem)
export const EvaluationQuery = closed({
  ...pageQuery,
  subject_id: Type.Optional(Id()),
  family: Type.Optional(oneOf(['matrix', 'rule'])),
  matrix_key: Type.Optional(Slug({ description: 'Decisions of this matrix.' })),
  rule_key: Type.Optional(Slug({ description: 'Decisions of this rule.' })),
  band: Type.Optional(Band),
  from_at: Type.Optional(Timestamp({ description: 'Decided at or after.' })),
  until_at: Type.Optional(Timestamp({ description: 'Decided before.' })),
})

const Evidence = closed(
  {
    contract_key: Slug(),
    contract_version: Version,
    contract_hash: Sha256,
    payload_hash: text(64, {
      description:
        'SHA-256 of the salt of the decision document, a point, and the SHA-256 of the payload, both as text.',
    }),
    mode: oneOf(['live', 'test', 'recorded', 'fixtures'], {
      description:
        'Where the answer came from; `test` is the test environment of the provider. A decision on answers that are not live is a test.',
    }),
    inputs: listOf(closed({ input: text(60), fact: text(60) }), 100, { description: 'The inputs that it gave.' }),
  },
  { title: 'DecisionEvidence' },
)
const EvidenceList = listOf(Evidence, MAX_CITED_CALLS, {
  description: 'Answers of providers that the decision was made on.',
})

const Plugin = closed(
  {
    plugin_key: Slug(),
    via: nullable(text(40, { description: 'Whose version it is, as for lists.' })),
    version: Version,
    content_hash: text(64, { description: 'Of manifest and source.' }),
    configuration_hash: text(64),
    sandbox_hash: text(64, { description: 'The build of the sandbox that it ran in; a replay uses the same.' }),
    factor: text(60, { description: 'The factor that it scored.' }),
    result: closed({
      score_bps: Bps,
      reason_code: nullable(text(60)),
      values: AnyObject('What it says beside its score.'),
    }),
    fuel: Type.Integer({ minimum: 0, description: 'What the run used; the same on every machine.' }),
  },
  { title: 'DecisionPlugin' },
)
const PluginList = listOf(Plugin, 50, { description: 'Plugins that scored factors, and what they said.' })

const EvidenceCall = closed(
  {
    contract_key: Slug(),
    admission_id: Id(),
    call_id: Id(),
    provider_key: Slug(),
    capability: text(100),
    answered_at: Timestamp(),
  },
  { title: 'EvidenceCall' },
)

const whole = {
  ...row,
  evidence: EvidenceList,
  plugins: PluginList,
  is_test: IsTest,
  reasons: Reasons,
  outcome: Outcome,
  definition: Definition,
  lists: listOf(Pinned, 200),
  receipt: Receipt,
}
export const Evaluation = closed(whole, { title: 'Evaluation' })
export const EvaluationWithReasons = closed({ ...whole, explanation: Explanation }, { title: 'EvaluationWithReasons' })
export const Preview = closed(
  {
    valid_at: nullable(Timestamp({ description: 'Null: now.' })),
    engine: Version,
    reasons: Reasons,
    outcome: Outcome,
    explanation: Explanation,
    definition: Definition,
    lists: listOf(Pinned, 200),
    evidence: EvidenceList,
    plugins: PluginList,
  },
  { title: 'EvaluationPreview' },
)
export const ExplanationView = closed(
  {
    evaluation_id: Id(),
    reasons: Reasons,
    outcome: Outcome,
    explanation: Explanation,
    definition: Definition,
    lists: listOf(Pinned, 200),
    plugins: PluginList,
  },
  { title: 'ExplanationOfEvaluation' },
)
export const PinnedInputs = closed(
  {
    evaluation_id: Id(),
    inputs: AnyObject('As they were given, subject and request together.'),
    valid_at: nullable(Timestamp({ description: 'As asked for; null: the instant of deciding.' })),
    engine: Version,
    definition: Definition,
    lists: listOf(Pinned, 200),
    evidence: EvidenceList,
    plugins: PluginList,
    evidence_calls: listOf(EvidenceCall, 2 * MAX_CITED_CALLS, {
      description: 'The calls of providers whose answers are the evidence.',
    }),
    used: Type.Array(
      closed({
        list_key: Slug(),
        key: Type.String(),
        field: nullable(Type.String({ description: 'Null: a test whether the key is on the list.' })),
        value: AnyJson('What the list said.'),
        hash: nullable(text(64, { description: 'Of the entry; null where the key is not on the list.' })),
      }),
      { description: 'Everything that was read from lists, with the hash of the entry that proves it.' },
    ),
    receipt: Receipt,
    document_hash: Sha256,
  },
  { title: 'InputsOfEvaluation' },
)
