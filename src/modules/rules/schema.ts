/** Wire contract of what only rules have: the conditions they may use, typologies, and import from other formats. */
import { closed, listOf, nullable, oneOf, Slug, Type, text } from '#kernel/schema.ts'
import { documentStore } from '#modules/definitions/index.ts'

const { Findings } = documentStore

export const RuleFunctions = closed(
  {
    tests: listOf(
      closed({
        form: text(50),
        example: Type.String({ description: 'As it is written in a cell.' }),
        meaning: Type.String(),
        input_types: listOf(text(20), 10),
      }),
      50,
    ),
    hit_policies: listOf(closed({ hit_policy: text(20), meaning: Type.String() }), 10),
    words: listOf(closed({ word: text(20), meaning: Type.String() }), 20, {
      description: 'Placeholders of sentences, besides the names of inputs.',
    }),
    lists: listOf(closed({ list_key: Slug(), title: text(200) }), 200, {
      description: 'Lists that a test may read, by key; the first two hundred.',
    }),
  },
  { title: 'RuleFunctions' },
)

export const MAX_TYPOLOGY_RULES = 10_000
export const Typologies = closed(
  {
    items: listOf(
      closed({
        typology: text(100),
        covered: Type.Boolean({ description: 'By a rule that is in force.' }),
        rules: listOf(
          closed({
            rule_key: Slug(),
            title: text(200),
            origin: oneOf(['own', 'shared']),
            version: nullable(Type.Integer({ description: 'In force now; null: none.' })),
          }),
          MAX_TYPOLOGY_RULES,
        ),
      }),
      MAX_TYPOLOGY_RULES,
    ),
    complete: Type.Boolean({ description: `False where there are more than ${MAX_TYPOLOGY_RULES} tags altogether.` }),
  },
  { title: 'Typologies' },
)

export const ImportRequest = closed({
  format: oneOf(['dmn', 'gorules'], { description: 'DMN 1.x XML, or a GoRules JSON decision graph.' }),
  text: text(1_000_000, { description: 'The file.' }),
  key_prefix: Type.Optional(
    Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,39}$', maxLength: 40, description: 'Put before each key.' }),
  ),
})
const linkedOutput = {
  rule_key: nullable(Slug({ description: 'The rule that provides it; null when that node was left out.' })),
  node: Type.String({ description: 'As the file calls it.' }),
  output: Type.String({ description: 'The title of the output.' }),
}
export const ImportReply = closed(
  {
    items: listOf(
      closed({
        rule_key: Slug(),
        name: Type.String({ description: 'As the file calls it.' }),
        place: Type.String({ description: 'Its place in the file.' }),
        reads: listOf(closed({ input: Type.String({ description: 'Of this rule.' }), ...linkedOutput }), 1000, {
          description: 'Inputs that other nodes of the file provide: evaluate those first and pass their outputs on.',
        }),
        only_if: listOf(closed({ ...linkedOutput, value: Type.String() }), 100, {
          description: 'Branches of a switch: the rule applies only where the output has one of these values.',
        }),
        findings: Findings,
      }),
      500,
      { description: 'Created rules, each with a draft; nothing is published or put in force.' },
    ),
    findings: listOf(
      closed({
        code: text(100),
        pointer: Type.String(),
        message: Type.String(),
        severity: oneOf(['error', 'warning']),
        example: Type.Optional(nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object' }))),
      }),
      1000,
      { description: 'What of the file was left out, and why; the pointer is the place in the file.' },
    ),
  },
  { title: 'RuleImport' },
)
