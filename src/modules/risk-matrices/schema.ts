/** Wire contract of validation, simulation and golden cases of a matrix or rule. */
import { Count, closed, Id, integer, listOf, nullable, pageOf, Timestamp, Type, text } from '#kernel/schema.ts'
import { documentStore } from '#modules/definitions/index.ts'

const { Findings, ListVersion } = documentStore

export const Inputs = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  maxProperties: 100,
  description: 'By the names the definition declares.',
})
const Facts = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })

const Expected = closed(
  {
    band: Type.Optional(text(100)),
    score_bps: Type.Optional(integer(0, 10_000)),
    hit: Type.Optional(Type.Boolean()),
    reason_codes: Type.Optional(listOf(text(100), 200)),
  },
  { minProperties: 1, description: 'The required result; members that are not named are not compared.' },
)
const stored = {
  case_id: Id(),
  name: text(200),
  inputs: Inputs,
  expected: Expected,
  note: nullable(text(2000)),
  created_at: Timestamp(),
  created_by: text(200),
}
export const CaseView = closed(stored, { title: 'GoldenCase' })
export const CasePage = pageOf(CaseView)
export const CaseBody = closed({
  name: text(200, { description: 'What it shows; no two cases of a definition have the same name.' }),
  inputs: Inputs,
  expected: Expected,
  note: Type.Optional(text(2000)),
})

export const ValidationResult = closed(
  {
    valid: Type.Boolean({ description: 'No finding is an error: it could be published.' }),
    findings: Findings,
    lists: listOf(ListVersion, 1000, { description: 'The lists it was proved with.' }),
  },
  { title: 'DefinitionVerdict' },
)
export const SimulationRequest = closed({
  inputs: Inputs,
  valid_at: Type.Optional(Timestamp({ description: 'With the lists in force at this instant; now when absent.' })),
})
const decision = {
  decided: Type.Boolean({ description: 'False: the findings say what is missing or wrong.' }),
  outcome: nullable(Facts('Band, score and reason codes, or hit and outputs.')),
  explanation: nullable(Facts('Each factor, trigger and row that had a part in it, with reasons.')),
  findings: Findings,
}
export const Simulation = closed({ ...decision, lists: listOf(ListVersion, 1000) }, { title: 'Simulation' })
export const TestRequest = closed({
  cases: Type.Optional(
    listOf(closed({ name: Type.Optional(text(200)), inputs: Inputs, expected: Type.Optional(Expected) }), 200, {
      description: 'Run these instead of the golden cases.',
      minItems: 1,
    }),
  ),
})
export const TestReport = closed(
  {
    passed: Count,
    failed: Count,
    results: listOf(
      closed({
        name: Type.String(),
        passed: Type.Boolean(),
        differences: Type.Array(Type.String()),
        ...decision,
      }),
      500,
    ),
    findings: Findings,
    lists: listOf(ListVersion, 1000),
  },
  { title: 'TestReport' },
)
